/** Reads a project as a document, with its items and the ids of its rows. */
import { run, statements } from '../../database/statements/statements.ts';
import type { Transaction } from '../../database/transactions/transaction.ts';
import { type CanonicalItem, createStringComparator } from '../base/canonical.ts';
import { readDestinations } from '../events/document/destination-document.ts';
import { readTopics } from '../events/document/topic-document.ts';
import type { CustomProvider } from '../integrations/custom-provider/custom-provider.ts';
import { readCustomProviders } from '../integrations/custom-provider/custom-provider-document.ts';
import { SPEC_VERSION } from '../integrations/integration/integration-content-input.ts';
import {
  readIntegrations,
  type StoredIntegration,
  toCanonicalContent,
} from '../integrations/integration/integration-document.ts';
import { toCanonicalAppearance } from '../tenants/project/appearance-document.ts';
import { createFingerprint, readJwtKeys } from '../tenants/project/jwt-key-document.ts';
import { type Item, listItems } from './items.ts';
import type { CanonicalDocument } from './project-document.ts';

export interface ProjectState {
  projectId: string;
  /** Has all sections, except that `customProviders` is absent if the project has none. */
  document: CanonicalDocument &
    Required<Omit<CanonicalDocument, 'specVersion' | 'customProviders'>>;
  items: Map<string, Item>;
  customProviders: Map<string, CustomProvider>;
  integrations: Map<string, StoredIntegration>;
  /** Ids of rows by the paths of their items. */
  ids: Map<string, string>;
}

/**
 * Locks the rows that a plan may change until the transaction ends. It locks them in the same order as other changes do.
 * Rows that are created in the meantime are not locked.
 */
export async function lockProject(tx: Transaction, projectId: string): Promise<void> {
  for (const table of [
    'Integration',
    'Destination',
    'Topic',
    'JwtKey',
    'CustomProvider',
  ] as const) {
    await run(
      tx,
      statements
        .selectFrom(table)
        .select('id')
        .where('projectId', '=', projectId)
        .orderBy('id')
        .forUpdate(),
    );
  }
  await run(
    tx,
    statements.selectFrom('Project').select('id').where('id', '=', projectId).forNoKeyUpdate(),
  );
}

type Client = Pick<
  Transaction,
  | 'project'
  | 'jwtKey'
  | 'customProvider'
  | 'providerApp'
  | 'destination'
  | 'topic'
  | 'eventTopicRoute'
  | 'topicDestinationRoute'
  | 'integration'
  | 'revision'
>;

/** Reads everything of a project that a document contains. */
export async function readProjectState(client: Client, projectId: string): Promise<ProjectState> {
  const project = await client.project.findUniqueOrThrow({ where: { id: projectId } });
  const jwtKeys = await readJwtKeys(client, projectId);
  const customProviders = await readCustomProviders(client, projectId);
  const destinations = await readDestinations(client, projectId);
  const destinationNames = new Map(destinations.map(({ id, item }) => [id, String(item.name)]));
  const topics = await readTopics(client, projectId, destinationNames);
  const integrations = await readIntegrations(client, projectId);
  const document: ProjectState['document'] = {
    specVersion: SPEC_VERSION,
    appearance: toCanonicalAppearance(project),
    allowedOrigins: project.allowedOrigins.toSorted(createStringComparator(String)),
    jwtKeys: listSorted(jwtKeys, ({ label, publicKeyPem }) => `${label}\n${publicKeyPem}`),
    ...(customProviders.length > 0 && {
      customProviders: listSorted(customProviders, getName),
    }),
    providerApps: await readApps(client, projectId),
    destinations: listSorted(destinations, getName),
    topics: listSorted(topics, getName),
    integrations: integrations
      .map(({ content }) => toCanonicalContent(content))
      .sort(createStringComparator(getName)),
  };
  return {
    projectId,
    document,
    items: listItems(document),
    customProviders: new Map(customProviders.map(({ row }) => [row.name, row])),
    integrations: new Map(integrations.map((integration) => [integration.name, integration])),
    ids: new Map([
      ...listIds('jwtKeys', jwtKeys, createFingerprint),
      ...listIds('customProviders', customProviders, getName),
      ...listIds('destinations', destinations, getName),
      ...listIds('topics', topics, getName),
      ...integrations.map(({ id, name }) => [`integrations.${name}`, id] as const),
    ]),
  };
}

interface RowItem {
  id: string;
  item: CanonicalItem;
}

const getName = ({ name }: CanonicalItem) => String(name);

function listSorted(
  rows: readonly RowItem[],
  toKey: (item: CanonicalItem) => string,
): CanonicalItem[] {
  return rows.map(({ item }) => item).sort(createStringComparator(toKey));
}

/** Lists the paths of items with the ids of their rows. */
function listIds(
  section: keyof CanonicalDocument,
  rows: readonly RowItem[],
  toKey: (item: CanonicalItem) => string,
) {
  return rows.map(({ id, item }) => [`${section}.${toKey(item)}`, id] as const);
}

async function readApps(
  client: Pick<Client, 'providerApp'>,
  projectId: string,
): Promise<{ provider: string; name: string }[]> {
  const apps = await client.providerApp.findMany({
    where: { projectId },
    select: { provider: true, externalRef: true, clientId: true },
  });
  const namedApps = apps.map(({ provider, externalRef, clientId }) => ({
    provider,
    name: externalRef ?? clientId,
  }));
  const createKey = ({ provider, name }: (typeof namedApps)[number]) => `${provider}\n${name}`;
  const distinctApps = new Map(namedApps.map((app) => [createKey(app), app]));
  return [...distinctApps.values()].sort(createStringComparator(createKey));
}
