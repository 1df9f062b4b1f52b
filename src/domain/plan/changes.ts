/** Compares a document with a project: finds issues of the document, and the changes that it makes to the project. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { DomainError, type Issue } from '../../kernel/errors.ts';
import type { Call } from '../access/call.ts';
import { createInputIssue } from '../base/issues.ts';
import { integrationName } from '../base/names.ts';
import { enumeration, resource, toStoredWord } from '../base/resource.ts';
import { listProviderIssues } from '../connections/provider/provider-app-input.ts';
import { findHostIssue } from '../events/destination-rules.ts';
import type { IntegrationContent } from '../integrations/integration/integration-content.ts';
import {
  listDestinationIssues,
  listIssuesWithDestinations,
  listNamedDestinations,
} from '../integrations/integration/integration-content-check.ts';
import { integrationContentInput } from '../integrations/integration/integration-content-input.ts';
import { normalizeContent } from '../integrations/integration/normalized-content.ts';
import { parsePublicKey } from '../tenants/project/jwt-key.ts';
import {
  type CanonicalDestination,
  type CanonicalDocument,
  createStringComparator,
  toCanonicalAppearance,
  toCanonicalContent,
  toCanonicalJwtKey,
  toCanonicalTopic,
  toEventWireName,
} from './canonical-document.ts';
import type { DesiredState } from './desired-state.ts';
import { APP_NAME_PATH, type Item, itemKind, listItems, SECTION_BY_KIND } from './items.ts';
import { convertWords, type ParsedDocument } from './project-document.ts';
import type { ProjectState } from './project-state.ts';

const changeAction = enumeration('ChangeAction', 'The effect of a plan on an item.', {
  CREATE: 'The project gets the item.',
  UPDATE: 'The item changes.',
  DELETE: 'The project loses the item.',
});

const itemValue = z.record(z.string(), z.unknown());

export const changeResource = resource('PlanChange', 'One change of a plan.', {
  action: changeAction.describe('The effect on the item.'),
  kind: itemKind.describe('The kind of the item.'),
  path: z
    .string()
    .describe('Identifies the item in the project, like `integrations.contact-sync`.'),
  before: itemValue
    .nullable()
    .describe('The item in the project, as in a document. Null for a new item.'),
  after: itemValue
    .nullable()
    .describe('The item after the plan is applied, as in a document. Null for a deletion.'),
});
export type Change = z.output<typeof changeResource>;

/**
 * Lists the issues that depend on the project, the catalog or the settings of the server. The names of the issues are
 * paths in the document.
 */
export function* listDocumentIssues(
  call: Call,
  desiredState: DesiredState,
  state: ProjectState,
): Generator<Issue> {
  const { document } = desiredState;
  const destinations = listDestinationNamesAfter(desiredState, state);
  yield* listIntegrationIssues(call, desiredState, { state, destinations });
  for (const [topicIndex, { destinations: names }] of (document.topics ?? []).entries()) {
    for (const [index, name] of names.entries()) {
      const path = ['topics', topicIndex, 'destinations', index];
      yield* listDestinationIssues(name, path, destinations);
    }
  }
  for (const [index, { name, type, url }] of (document.destinations ?? []).entries()) {
    if (desiredState.references.has(name)) continue;
    const path = ['destinations', index];
    const storedDestination = state.items.get(`destinations.${name}`)?.value;
    if (storedDestination && storedDestination.type !== toStoredWord(type)) {
      const detail = `must be ${storedDestination.type}: the type of a destination never changes.`;
      yield createInputIssue([...path, 'type'], detail, toStoredWord(type));
    }
    const hostIssue =
      url === undefined || storedDestination?.url === url ? null : findHostIssue(url, call);
    if (hostIssue) yield createInputIssue([...path, 'url'], hostIssue, url);
  }
  for (const [index, { publicKeyPem }] of (document.jwtKeys ?? []).entries()) {
    const keyIssue = findKeyIssue(publicKeyPem);
    if (keyIssue) yield createInputIssue(['jwtKeys', index, 'publicKeyPem'], keyIssue);
  }
}

function* listIntegrationIssues(
  call: Call,
  { document }: DesiredState,
  { state, destinations }: { state: ProjectState; destinations: ReadonlySet<string> },
): Generator<Issue> {
  const namesByLowerCase = new Map(
    [...state.integrations.keys()].map((name) => [name.toLowerCase(), name]),
  );
  for (const [index, content] of (document.integrations ?? []).entries()) {
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
    yield* listProviderIssues(call, provider, [...path, 'provider']);
    yield* listIssuesWithDestinations(call, content, {
      path,
      name,
      provider: state.integrations.get(name)?.provider ?? provider,
      destinations,
    });
  }
}

function findKeyIssue(publicKeyPem: string): string | null {
  try {
    parsePublicKey(publicKeyPem, '');
    return null;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return error.issues?.[0]?.detail ?? error.message;
  }
}

/** Lists the names of the destinations that the project has after the document is applied. */
function listDestinationNamesAfter(
  { document, references, allowDeletions }: DesiredState,
  { ids }: ProjectState,
): ReadonlySet<string> {
  const documentNames = document.destinations?.map(({ name }) => name) ?? [];
  const keepsOthers = !allowDeletions || document.destinations === undefined;
  const projectNames = keepsOthers ? ids.destinations.keys() : [];
  return new Set([...projectNames, ...documentNames, ...references]);
}

/** Converts a document without issues to canonical form, and returns warnings about its integrations. */
export function toCanonicalDocument(
  call: Pick<Call, 'log' | 'catalog'>,
  { document, references }: DesiredState,
): { canonicalDocument: CanonicalDocument; warnings: string[] } {
  const warnings: string[] = [];
  const toCanonicalIntegration = (content: IntegrationContent, index: number) => {
    const result = normalizeContent(call, content, ['integrations', index]);
    warnings.push(...result.warnings);
    return toCanonicalContent(result.content);
  };
  const { specVersion, appearance, allowedOrigins, jwtKeys, destinations, topics, integrations } =
    document;
  const canonicalDocument: CanonicalDocument = {
    specVersion,
    ...(appearance && { appearance: toCanonicalAppearance(appearance) }),
    ...(allowedOrigins && { allowedOrigins }),
    ...(jwtKeys && {
      jwtKeys: jwtKeys.map((key) =>
        toCanonicalJwtKey({ ...key, publicKeyPem: parsePublicKey(key.publicKeyPem, '') }),
      ),
    }),
    ...(destinations && {
      destinations: destinations
        .filter(({ name }) => !references.has(name))
        .map(toCanonicalDestination),
    }),
    ...(topics && {
      topics: topics.map((topic) =>
        toCanonicalTopic({ ...topic, eventTypes: topic.eventTypes.map(toEventWireName) }),
      ),
    }),
    ...(integrations && { integrations: integrations.map(toCanonicalIntegration) }),
  };
  return { canonicalDocument, warnings };
}

function toCanonicalDestination({
  name,
  type,
  url,
  headers,
  status,
}: NonNullable<ParsedDocument['destinations']>[number]): CanonicalDestination {
  const names = headers.map((header) => header.toLowerCase());
  return {
    name,
    type: toStoredWord(type),
    ...(url !== undefined && { url }),
    ...(names.length > 0 && { headers: names.sort(createStringComparator(String)) }),
    ...(status === 'DISABLED' && { status: 'disabled' }),
  };
}

export interface DocumentComparison {
  changes: Change[];
  /** The paths of the project's items that the document lacks, in the sections that it has. */
  surplusPaths: string[];
}

/** Compares the items of a project with a document. Surplus items are deleted only if `allowDeletions` is set. */
export function compareWithDocument(
  { items }: Pick<ProjectState, 'items'>,
  document: CanonicalDocument,
  { references, allowDeletions }: Pick<DesiredState, 'references' | 'allowDeletions'>,
): DocumentComparison {
  const documentItems = listItems(document);
  const changes: Change[] = [];
  for (const { kind, path, value: after } of documentItems.values()) {
    const before = items.get(path)?.value ?? null;
    if (before === null) {
      changes.push({ action: 'CREATE', kind, path, before, after });
    } else if (!isDeepStrictEqual(before, after)) {
      changes.push({ action: 'UPDATE', kind, path, before, after });
    }
  }
  const keptPaths = new Set([
    APP_NAME_PATH,
    ...[...references].map((name) => `destinations.${name}`),
  ]);
  const surplusItems = [...items.values()].filter(
    ({ kind, path }) =>
      document[SECTION_BY_KIND[kind]] !== undefined &&
      !documentItems.has(path) &&
      !keptPaths.has(path),
  );
  if (allowDeletions) {
    for (const { kind, path, value: before } of surplusItems) {
      changes.push({ action: 'DELETE', kind, path, before, after: null });
    }
  }
  return {
    changes: changes.sort(createStringComparator(({ path }) => path)),
    surplusPaths: surplusItems.map(({ path }) => path),
  };
}

/** Parses the content of an integration in a plan, which is in canonical form. */
export function parseItemContent(item: Item['value'] | null): IntegrationContent {
  const issues: Issue[] = [];
  return integrationContentInput.parse(
    convertWords(integrationContentInput, item, { path: [], issues }),
  );
}

/** Returns the contents of the project's integrations after the changes. */
export function listContentsAfter(
  { integrations }: Pick<ProjectState, 'integrations'>,
  changes: readonly Change[],
): IntegrationContent[] {
  const contents = new Map([...integrations].map(([name, { content }]) => [name, content]));
  for (const { kind, before, after } of changes) {
    if (kind !== 'INTEGRATION') continue;
    contents.delete(String((before ?? after)?.name));
    if (after) contents.set(String(after.name), parseItemContent(after));
  }
  return [...contents.values()];
}

/** Maps each destination that an integration names after the changes to the name of one such integration. */
export function mapDestinationsToIntegrations(
  state: ProjectState,
  changes: readonly Change[],
): Map<string, string> {
  return new Map(
    listContentsAfter(state, changes).flatMap((content) =>
      listNamedDestinations(content).map((destination) => [destination, content.name] as const),
    ),
  );
}
