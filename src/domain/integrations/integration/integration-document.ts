/** How integrations appear in project documents: with the content of their latest revision, as in a manifest. */
import type { Row } from '../../../database/statements/tables.ts';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import { conflict, type Issue } from '../../../kernel/errors.ts';
import type { RowCall } from '../../access/call.ts';
import type { InProject } from '../../access/catalog.ts';
import { getRowId, type ItemChanges, listNeeds } from '../../access/item-change.ts';
import { requireUnique } from '../../access/row-changes.ts';
import { type CanonicalItem, omitEmptyMembers, parseCanonicalItem } from '../../base/canonical.ts';
import { createInputIssue, requireNoIssues } from '../../base/issues.ts';
import { integrationName } from '../../base/names.ts';
import { listProviderIssues } from '../../connections/provider/provider-app-input.ts';
import {
  createIntegration,
  describeTakenNames,
  insertIntegration,
  lockIntegration,
} from './integration.ts';
import { type IntegrationContent, readIntegrationContent } from './integration-content.ts';
import { listContentIssues, listIssuesWithDestinations } from './integration-content-check.ts';
import { integrationContentInput, SPEC_VERSION } from './integration-content-input.ts';
import { deleteIntegration, removeIntegration } from './integration-deletion.ts';
import { normalizeContent } from './normalized-content.ts';
import { createRevision, revise } from './revision.ts';

/** An integration with the content of its latest revision. */
export interface StoredIntegration extends Row<'Integration'> {
  content: IntegrationContent;
}

/** Returns stored content in canonical form. It is not validated, because it may be older than a rule. */
export function toCanonicalContent(content: object): CanonicalItem {
  return omitEmptyMembers(integrationContentInput, content) as CanonicalItem;
}

/** Parses the content of an integration in a plan, which is in canonical form. */
export function parseItemContent(item: CanonicalItem | null): IntegrationContent {
  return parseCanonicalItem(integrationContentInput, item);
}

export async function readIntegrations(
  client: Pick<Transaction, 'integration' | 'revision'>,
  projectId: string,
): Promise<StoredIntegration[]> {
  const integrations = await client.integration.findMany({ where: { projectId } });
  const revisions = await client.revision.findMany({
    where: { projectId, id: { in: integrations.map(({ latestRevisionId }) => latestRevisionId) } },
  });
  const revisionsById = new Map(revisions.map((revision) => [revision.id, revision]));
  return integrations.flatMap((integration) => {
    const revision = revisionsById.get(integration.latestRevisionId);
    return revision ? { ...integration, content: readIntegrationContent(revision) } : [];
  });
}

interface ProjectNames {
  /** The integrations of the project by name. */
  integrations: ReadonlyMap<string, StoredIntegration>;
  /** The names of the destinations that the project will have. */
  destinations: ReadonlySet<string>;
}

/** Lists the issues of the integrations in a document that depend on the project and the catalog. */
export function* listIntegrationItemIssues(
  call: InProject<RowCall>,
  contents: readonly IntegrationContent[],
  { integrations, destinations }: ProjectNames,
): Generator<Issue> {
  const namesByLowerCase = new Map(
    [...integrations.keys()].map((name) => [name.toLowerCase(), name]),
  );
  for (const [index, content] of contents.entries()) {
    const path = ['integrations', index];
    const { name, provider } = content;
    const existingName = namesByLowerCase.get(name.toLowerCase());
    const { error } = integrationName.safeParse(name);
    if (error) {
      yield createInputIssue([...path, 'name'], error.issues[0]?.message ?? 'is not a name.', name);
    }
    if (existingName !== undefined && existingName !== name) {
      const detail = `differs from the integration ${existingName} of the project only by case.`;
      yield createInputIssue([...path, 'name'], detail, name);
    }
    const storedProvider = integrations.get(name)?.provider;
    if (storedProvider === undefined) {
      yield* listProviderIssues(call, provider, [...path, 'provider']);
    }
    yield* listIssuesWithDestinations(call, content, {
      path,
      name,
      provider: storedProvider ?? provider,
      destinations,
    });
  }
}

export const integrationChanges: ItemChanges = {
  needs: listNeeds(createIntegration, createRevision, deleteIntegration),
  async put({ call, tx, projectId, ids, allowDeletions }, { path, after }) {
    const id = ids.get(path);
    const integration =
      id === undefined ? null : await lockIntegration(tx, { id, projectId }, 'change');
    const parsedContent = parseItemContent(after);
    const { name } = parsedContent;
    const provider = integration?.provider ?? parsedContent.provider;
    const context = { projectId, path: [path], name, provider };
    requireNoIssues(await listContentIssues({ ...call, tx }, parsedContent, context));
    const { content } = normalizeContent(call, parsedContent, [path]);
    const revision = { specVersion: SPEC_VERSION, content };
    if (integration) {
      await revise(call, tx, { integration, revision, destructive: allowDeletions });
      return;
    }
    const creation = { name, provider: content.provider, latestRevision: revision };
    await requireUnique(insertIntegration(tx, projectId, creation), describeTakenNames(name));
  },
  async remove({ call, tx, projectId, ids, recordEvents }, { path, before }) {
    const integration = { id: getRowId({ ids }, path), projectId };
    const removal = await removeIntegration(call, tx, integration);
    if (!removal.isDeleted) {
      throw conflict(
        `The integration ${before.name} got more installations since the plan was computed. Plan again.`,
      );
    }
    recordEvents.push(removal.recordEvents);
  },
};
