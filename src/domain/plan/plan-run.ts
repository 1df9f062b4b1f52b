/** Applies the changes of a plan in one transaction, with the functions that the mutations use. */
import type { Transaction } from '../../database/transaction.ts';
import { maskUrl } from '../../deliveries/target-secrets.ts';
import { conflict, invalid, invalidInput } from '../../kernel/errors.ts';
import { MASK } from '../../kernel/secrets.ts';
import type { Call } from '../access/call.ts';
import { requireUnique } from '../access/row-changes.ts';
import { createInputIssue, requireNoIssues } from '../base/issues.ts';
import { castJsonColumn } from '../base/storable-json.ts';
import { insertDestination, removeDestination, reviseDestination } from '../events/destination.ts';
import { findUrlIssue } from '../events/destination-rules.ts';
import { insertEventTopicRoute } from '../events/event-topic-route.ts';
import { findHeaderValueIssue } from '../events/target-headers.ts';
import { insertTopic } from '../events/topic.ts';
import { insertTopicDestinationRoute } from '../events/topic-destination-route.ts';
import {
  describeTakenNames,
  insertIntegration,
  lockIntegration,
} from '../integrations/integration/integration.ts';
import { listContentIssues } from '../integrations/integration/integration-content-check.ts';
import { SPEC_VERSION } from '../integrations/integration/integration-content-input.ts';
import { removeIntegration } from '../integrations/integration/integration-deletion.ts';
import { normalizeContent } from '../integrations/integration/normalized-content.ts';
import { revise } from '../integrations/integration/revision.ts';
import { insertJwtKey } from '../tenants/project/jwt-key.ts';
import {
  type CanonicalDestination,
  type CanonicalJwtKey,
  parseEventWireName,
} from './canonical-document.ts';
import { type Change, parseItemContent } from './changes.ts';
import type { ItemKind } from './items.ts';
import { type Plan, readPlanLists } from './plan.ts';
import type { ProjectState } from './project-state.ts';

interface PlanRunOptions {
  plan: Plan;
  state: ProjectState;
  /** Values by the paths of `requiredSecrets`. */
  secrets: ReadonlyMap<string, string>;
}

export class PlanRun {
  /** Work to do after the commit. If the process ends first, workers do it. */
  readonly afterCommit: (() => Promise<unknown>)[] = [];
  readonly #call: Call;
  readonly #tx: Transaction;
  readonly #plan: Plan;
  readonly #projectId: string;
  readonly #state: ProjectState;
  readonly #secrets: ReadonlyMap<string, string>;
  readonly #events: (() => Promise<void>)[] = [];

  constructor(call: Call, tx: Transaction, { plan, state, secrets }: PlanRunOptions) {
    this.#call = call;
    this.#tx = tx;
    this.#plan = plan;
    this.#projectId = plan.projectId;
    this.#state = state;
    this.#secrets = secrets;
  }

  /** Applies all changes. Items are created before the items that refer to them, and deleted after them. */
  async run(): Promise<void> {
    const { changes } = readPlanLists(this.#plan);
    const upserts = changes.filter(({ action }) => action !== 'DELETE');
    const deletions = changes.filter(({ action }) => action === 'DELETE');
    await this.#updateProject(changes);
    await applyEach(changes, 'JWT_KEY', (change) => this.#putKey(change));
    await applyEach(upserts, 'DESTINATION', (change) => this.#putDestination(change));
    await applyEach(upserts, 'TOPIC', (change) => this.#createTopic(change));
    await applyEach(upserts, 'EVENT_TOPIC_ROUTE', (change) => this.#insertEventRoute(change));
    await applyEach(upserts, 'TOPIC_DESTINATION_ROUTE', (change) => this.#insertTopicRoute(change));
    await applyEach(upserts, 'INTEGRATION', (change) => this.#putIntegration(change));
    await applyEach(deletions, 'INTEGRATION', (change) => this.#deleteIntegration(change));
    await applyEach(deletions, 'EVENT_TOPIC_ROUTE', (change) => this.#deleteEventRoute(change));
    await applyEach(deletions, 'TOPIC_DESTINATION_ROUTE', (change) =>
      this.#deleteTopicRoute(change),
    );
    await applyEach(deletions, 'TOPIC', (change) => this.#deleteTopic(change));
    await applyEach(deletions, 'DESTINATION', (change) => this.#deleteDestination(change));
  }

  /** Records the events of the changes. Must run last in the transaction. */
  async recordEvents(): Promise<void> {
    for (const record of this.#events) await record();
  }

  async #updateProject(changes: readonly Change[]): Promise<void> {
    const data = { ...listAppearance(changes), ...this.#createOrigins(changes) };
    if (Object.keys(data).length === 0) return;
    await this.#tx.project.update({
      where: { id: this.#projectId },
      data: { ...data, updateTime: this.#call.now() },
    });
  }

  #createOrigins(changes: readonly Change[]): { allowedOrigins?: string[] } {
    const origins = new Set(this.#state.document.allowedOrigins);
    const originChanges = changes.filter(({ kind }) => kind === 'ALLOWED_ORIGIN');
    if (originChanges.length === 0) return {};
    for (const { before, after } of originChanges) {
      if (after) origins.add(String(after.origin));
      else origins.delete(String(before?.origin));
    }
    return { allowedOrigins: [...origins].sort() };
  }

  async #putKey({ before, after }: Change): Promise<void> {
    const projectId = this.#projectId;
    const [storedKey, newKey] = [before, after].map(castJsonColumn<CanonicalJwtKey | null>);
    const id = storedKey && this.#getId('jwtKeys', storedKey.publicKeyPem);
    if (id && newKey) {
      const { label, active = true } = newKey;
      const data = { label, active, updateTime: this.#call.now() };
      await this.#tx.jwtKey.update({ where: { projectId_id: { projectId, id } }, data });
    } else if (newKey) {
      const { label, publicKeyPem, active = true } = newKey;
      await insertJwtKey(this.#tx, { projectId, label, publicKeyPem, active });
    } else if (id) {
      await this.#tx.jwtKey.deleteMany({ where: { projectId, id } });
    }
    this.afterCommit.push(async () => this.#call.viewers.clear());
  }

  async #putDestination({ path, before, after }: Change): Promise<void> {
    const newDestination = castJsonColumn<CanonicalDestination>(after);
    const storedDestination = castJsonColumn<CanonicalDestination | null>(before);
    const url = this.#findNewUrl(path, newDestination, storedDestination);
    const headers = this.#createHeaders(path, newDestination, storedDestination);
    const destinationId = this.#state.ids.destinations.get(newDestination.name);
    if (destinationId === undefined) {
      await this.#createDestination(newDestination, { url, headers });
      return;
    }
    const headerNames = newDestination.headers ?? [];
    const keepHeaders = headerNames.filter((headerName) => headers[headerName] === undefined);
    const haveHeadersChanged =
      JSON.stringify(newDestination.headers) !== JSON.stringify(storedDestination?.headers);
    const { afterCommit } = await reviseDestination(this.#call, this.#tx, {
      projectId: this.#projectId,
      destinationId,
      url,
      status: toDestinationStatus(newDestination),
      ...(haveHeadersChanged && { headers, keepHeaders }),
    });
    this.afterCommit.push(afterCommit);
  }

  async #createDestination(
    newDestination: CanonicalDestination,
    { url, headers }: { url: string | undefined; headers: Record<string, string> },
  ): Promise<void> {
    const projectId = this.#projectId;
    const { name } = newDestination;
    const type = newDestination.type === 'stream' ? ('STREAM' as const) : ('WEBHOOK' as const);
    const { destination } = await insertDestination(this.#call, this.#tx, {
      projectId,
      name,
      type,
      url,
      ...(Object.keys(headers).length > 0 && { headers }),
    });
    const { id: destinationId } = destination;
    this.#state.ids.destinations.set(name, destinationId);
    const status = toDestinationStatus(newDestination);
    if (status === 'ENABLED') return;
    await reviseDestination(this.#call, this.#tx, { projectId, destinationId, status });
  }

  /** Returns the new URL with its secret values. Undefined if the URL does not change. */
  #findNewUrl(
    path: string,
    { url }: CanonicalDestination,
    storedDestination: CanonicalDestination | null,
  ): string | undefined {
    if (url === undefined || url === storedDestination?.url) return undefined;
    const value = this.#secrets.get(`${path}.url`);
    if (value === undefined) return url;
    const issue =
      findUrlIssue(value) ??
      (maskUrl(value) === url ? null : `must be ${url} with values in its query.`);
    if (issue) throw invalid(`input.secrets.${path}.url`, issue);
    return value;
  }

  /** Returns the new headers with their secret values. */
  #createHeaders(
    path: string,
    newDestination: CanonicalDestination,
    storedDestination: CanonicalDestination | null,
  ): Record<string, string> {
    const names = (newDestination.headers ?? []).filter(
      (name) => !storedDestination?.headers?.includes(name),
    );
    const headers = names.map((name) => [name, this.#secrets.get(`${path}.headers.${name}`) ?? '']);
    const issues = headers.flatMap(([name, value]) => {
      const issue = value === MASK ? 'is a mask and not a value.' : findHeaderValueIssue(value);
      return issue ? createInputIssue(['input', 'secrets', `${path}.headers.${name}`], issue) : [];
    });
    if (issues.length > 0) throw invalidInput(issues);
    return Object.fromEntries(headers);
  }

  async #createTopic({ after }: Change): Promise<void> {
    const name = String(after?.name);
    const { id } = await insertTopic(this.#tx, { projectId: this.#projectId, name });
    this.#state.ids.topics.set(name, id);
  }

  async #insertEventRoute({ after }: Change): Promise<void> {
    await insertEventTopicRoute(this.#tx, {
      projectId: this.#projectId,
      ...this.#parseEventRoute(after),
    });
  }

  async #insertTopicRoute({ after }: Change): Promise<void> {
    const route = { projectId: this.#projectId, ...this.#parseTopicRoute(after) };
    await insertTopicDestinationRoute(this.#tx, route);
  }

  async #deleteEventRoute({ before }: Change): Promise<void> {
    const where = { projectId: this.#projectId, ...this.#parseEventRoute(before) };
    await this.#tx.eventTopicRoute.deleteMany({ where });
  }

  async #deleteTopicRoute({ before }: Change): Promise<void> {
    const where = { projectId: this.#projectId, ...this.#parseTopicRoute(before) };
    await this.#tx.topicDestinationRoute.deleteMany({ where });
  }

  #parseEventRoute(route: Change['after']) {
    const topicId = this.#getId('topics', route?.topic);
    return { eventType: parseEventWireName(String(route?.eventType)), topicId };
  }

  #parseTopicRoute(route: Change['after']) {
    return {
      topicId: this.#getId('topics', route?.topic),
      destinationId: this.#getId('destinations', route?.destination),
    };
  }

  #getId(kind: keyof ProjectState['ids'], name: unknown): string {
    const id = this.#state.ids[kind].get(String(name));
    if (id === undefined) throw new Error(`Bug: a plan refers to a row of ${kind} without an id.`);
    return id;
  }

  async #deleteTopic({ before }: Change): Promise<void> {
    const id = this.#getId('topics', before?.name);
    await this.#tx.topic.deleteMany({ where: { projectId: this.#projectId, id } });
  }

  async #deleteDestination({ before }: Change): Promise<void> {
    const destinationId = this.#getId('destinations', before?.name);
    const key = { projectId: this.#projectId, destinationId };
    this.afterCommit.push(await removeDestination(this.#call, this.#tx, key));
  }

  async #putIntegration({ path, after }: Change): Promise<void> {
    const tx = this.#tx;
    const projectId = this.#projectId;
    const parsedContent = parseItemContent(after);
    const { name } = parsedContent;
    const storedIntegration = this.#state.integrations.get(name);
    const context = {
      projectId,
      path: [path],
      name,
      provider: storedIntegration?.provider ?? parsedContent.provider,
    };
    requireNoIssues(await listContentIssues({ ...this.#call, tx }, parsedContent, context));
    const { content } = normalizeContent(this.#call, parsedContent, [path]);
    const revision = { specVersion: SPEC_VERSION, content };
    if (!storedIntegration) {
      const { provider } = content;
      const creation = insertIntegration(tx, projectId, {
        name,
        provider,
        latestRevision: revision,
      });
      await requireUnique(creation, describeTakenNames(name));
      return;
    }
    const integration = await lockIntegration(tx, storedIntegration, 'change');
    const destructive = this.#plan.allowDeletions;
    await revise(this.#call, tx, { integration, revision, destructive });
  }

  async #deleteIntegration({ before }: Change): Promise<void> {
    const storedIntegration = this.#state.integrations.get(String(before?.name));
    if (!storedIntegration) {
      throw new Error('Bug: a plan deletes an integration that its base lacks.');
    }
    const { isDeleted, recordEvents } = await removeIntegration(
      this.#call,
      this.#tx,
      storedIntegration,
    );
    if (!isDeleted) {
      throw conflict(
        `The integration ${storedIntegration.name} got more installations since the plan was computed. Plan again.`,
      );
    }
    this.#events.push(recordEvents);
  }
}

/** Returns the changed values of the appearance. A deleted value is null. */
function listAppearance(changes: readonly Change[]): Record<string, string | null> {
  const appearanceChanges = changes.filter(({ kind }) => kind === 'APPEARANCE');
  return Object.fromEntries(
    appearanceChanges.flatMap(({ before, after }) =>
      Object.keys(after ?? before ?? {}).map((name) => [name, after ? String(after[name]) : null]),
    ),
  );
}

function toDestinationStatus({ status }: CanonicalDestination): 'DISABLED' | 'ENABLED' {
  return status === 'disabled' ? 'DISABLED' : 'ENABLED';
}

/** Applies the changes of items of one kind, one after the other. */
async function applyEach(
  changes: readonly Change[],
  kind: ItemKind,
  apply: (change: Change) => Promise<void>,
): Promise<void> {
  for (const change of changes) {
    if (change.kind === kind) await apply(change);
  }
}
