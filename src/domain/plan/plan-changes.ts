/** Compares a document with a project: finds issues of the document, and the changes that it makes to the project. */

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Issue } from '../../kernel/errors.ts';
import type { Text } from '../../kernel/text.ts';
import type { ProjectCall } from '../access/call.ts';
import { createStringComparator } from '../base/canonical.ts';
import { enumeration, resource } from '../base/resource.ts';
import {
  listDestinationItemIssues,
  toCanonicalDestination,
} from '../events/document/destination-document.ts';
import { toCanonicalTopic } from '../events/document/topic-document.ts';
import { toCanonicalCustomProvider } from '../integrations/custom-provider/custom-provider-document.ts';
import type { IntegrationContent } from '../integrations/integration/integration-content.ts';
import {
  listDestinationIssues,
  listNamedDestinations,
} from '../integrations/integration/integration-content-check.ts';
import {
  listIntegrationItemIssues,
  parseItemContent,
  toCanonicalContent,
} from '../integrations/integration/integration-document.ts';
import { normalizeContent } from '../integrations/integration/normalized-content.ts';
import { toCanonicalAppearance } from '../tenants/project/appearance-document.ts';
import { listJwtKeyItemIssues, toCanonicalJwtKey } from '../tenants/project/jwt-key-document.ts';
import type { DesiredState } from './desired-state.ts';
import { APP_NAME_PATH, itemKind, listItems, SECTION_BY_KIND } from './items.ts';
import type { CanonicalDocument } from './project-document.ts';
import type { ProjectState } from './project-state.ts';

const changeAction = enumeration('ChangeAction', 'The effect of a plan on an item.', {
  CREATE: 'The project gets the item.',
  UPDATE: 'The item changes.',
  DELETE: 'The project loses the item.',
});

const itemValue = z.record(z.string(), z.unknown());

export const planChangeResource = resource('PlanChange', 'One change of a plan.', {
  action: changeAction.describe('The effect on the item.'),
  kind: itemKind.describe('The kind of the item.'),
  path: z
    .string()
    .describe('Identifies the item in the project, like `integrations.contact-sync`.'),
  before: itemValue
    .nullable()
    .describe('The item in the project, as in a document. {Null} for a new item.'),
  after: itemValue
    .nullable()
    .describe('The item after the plan is applied, as in a document. {Null} for a deletion.'),
});
export type PlanChange = z.output<typeof planChangeResource>;

/**
 * Lists the issues that depend on the project, the catalog or the settings of the server. The names of the issues are
 * paths in the document.
 */
export function* listDocumentIssues(
  call: ProjectCall,
  desiredState: DesiredState,
  state: ProjectState,
): Generator<Issue> {
  const { document } = desiredState;
  const destinations = listDestinationNamesAfter(desiredState, state);
  const { integrations } = state;
  const contents = document.integrations ?? [];
  yield* listIntegrationItemIssues(call, contents, { integrations, destinations });
  for (const [topicIndex, { destinations: names }] of (document.topics ?? []).entries()) {
    for (const [index, name] of names.entries()) {
      const path = ['topics', topicIndex, 'destinations', index];
      yield* listDestinationIssues(name, path, destinations);
    }
  }
  for (const [index, item] of (document.destinations ?? []).entries()) {
    if (desiredState.references.has(item.name)) continue;
    const stored = state.items.get(`destinations.${item.name}`)?.value;
    yield* listDestinationItemIssues(call, item, { path: ['destinations', index], stored });
  }
  for (const [index, key] of (document.jwtKeys ?? []).entries()) {
    yield* listJwtKeyItemIssues(key, ['jwtKeys', index]);
  }
}

/** Lists the names of the destinations that the project has after the document is applied. */
function listDestinationNamesAfter(
  { document, references, allowDeletions }: DesiredState,
  { document: { destinations } }: ProjectState,
): ReadonlySet<string> {
  const documentNames = document.destinations?.map(({ name }) => name) ?? [];
  const keepsOthers = !allowDeletions || document.destinations === undefined;
  const projectNames = keepsOthers ? destinations.map(({ name }) => String(name)) : [];
  return new Set([...projectNames, ...documentNames, ...references]);
}

/** Converts a document without issues to canonical form, and returns warnings about its integrations. */
export function toCanonicalDocument(
  call: Pick<ProjectCall, 'log' | 'catalog'>,
  { document, references }: DesiredState,
): { canonicalDocument: CanonicalDocument; warnings: Text[] } {
  const warnings: Text[] = [];
  const toCanonicalIntegration = (content: IntegrationContent, index: number) => {
    const result = normalizeContent(call, content, ['integrations', index]);
    warnings.push(...result.warnings);
    return toCanonicalContent(result.content);
  };
  const { specVersion, appearance, allowedOrigins, jwtKeys, customProviders, ...sections } =
    document;
  const { destinations, topics, integrations } = sections;
  const canonicalDocument: CanonicalDocument = {
    specVersion,
    ...(appearance && { appearance: toCanonicalAppearance(appearance) }),
    ...(allowedOrigins && { allowedOrigins }),
    ...(jwtKeys && { jwtKeys: jwtKeys.map(toCanonicalJwtKey) }),
    ...(customProviders && { customProviders: customProviders.map(toCanonicalCustomProvider) }),
    ...(destinations && {
      destinations: destinations
        .filter(({ name }) => !references.has(name))
        .map(toCanonicalDestination),
    }),
    ...(topics && { topics: topics.map(toCanonicalTopic) }),
    ...(integrations && { integrations: integrations.map(toCanonicalIntegration) }),
  };
  return { canonicalDocument, warnings };
}

export interface DocumentComparison {
  changes: PlanChange[];
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
  const changes: PlanChange[] = [];
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

/** Returns the contents of the project's integrations after the changes. */
export function listContentsAfter(
  { integrations }: Pick<ProjectState, 'integrations'>,
  changes: readonly PlanChange[],
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
  changes: readonly PlanChange[],
): Map<string, string> {
  return new Map(
    listContentsAfter(state, changes).flatMap((content) =>
      listNamedDestinations(content).map((destination) => [destination, content.name] as const),
    ),
  );
}
