/** Reads a project as a document, with its items and the ids of its rows. */
import type { Row } from '../../database/rows.ts';
import { run, statements } from '../../database/statements.ts';
import type { Transaction } from '../../database/transaction.ts';
import { listPageOrigins } from '../access/origins.ts';
import { maskTarget } from '../events/destination-secret.ts';
import {
  type IntegrationContent,
  readIntegrationContent,
} from '../integrations/integration/integration-content.ts';
import { SPEC_VERSION } from '../integrations/integration/integration-content-input.ts';
import {
  type CanonicalDestination,
  type CanonicalDocument,
  type CanonicalTopic,
  createStringComparator,
  toCanonicalAppearance,
  toCanonicalContent,
  toCanonicalJwtKey,
  toCanonicalTopic,
  toEventWireName,
} from './canonical-document.ts';
import { type Item, listItems } from './items.ts';

export interface StoredIntegration extends Row<'Integration'> {
  content: IntegrationContent;
}

export interface ProjectState {
  document: CanonicalDocument & Required<Omit<CanonicalDocument, 'specVersion'>>;
  items: Map<string, Item>;
  integrations: Map<string, StoredIntegration>;
  /** Ids of rows by name, or by the public key of a JWT key. */
  ids: Record<'destinations' | 'topics' | 'jwtKeys', Map<string, string>>;
}

/**
 * Locks the rows that a plan may change until the transaction ends. It locks them in the same order as other changes do.
 * Rows that are created in the meantime are not locked.
 */
export async function lockProject(tx: Transaction, projectId: string): Promise<void> {
  for (const table of ['Integration', 'Destination', 'Topic', 'JwtKey'] as const) {
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
  const query = { where: { projectId }, orderBy: { id: 'asc' } } as const;
  const project = await client.project.findUniqueOrThrow({ where: { id: projectId } });
  const keys = await client.jwtKey.findMany(query);
  // If several rows have the same key, the document has the newest one.
  const jwtKeys = [...new Map(keys.map((key) => [key.publicKeyPem, key])).values()];
  const destinations = await client.destination.findMany({
    ...query,
    select: { id: true, name: true, type: true, url: true, maskedHeaders: true, status: true },
  });
  const topics = await client.topic.findMany(query);
  const integrations = await readIntegrations(client, projectId);
  const document: ProjectState['document'] = {
    specVersion: SPEC_VERSION,
    appearance: toCanonicalAppearance(project),
    allowedOrigins: listPageOrigins(project).toSorted(createStringComparator(String)),
    jwtKeys: jwtKeys
      .map(toCanonicalJwtKey)
      .sort(createStringComparator(({ label, publicKeyPem }) => `${label}\n${publicKeyPem}`)),
    providerApps: await readApps(client, projectId),
    destinations: destinations
      .map(toCanonicalDestination)
      .sort(createStringComparator(({ name }) => name)),
    topics: await readTopics(client, projectId, { topics, destinations }),
    integrations: integrations
      .map(({ content }) => toCanonicalContent(content))
      .sort(createStringComparator(({ name }) => name)),
  };
  return {
    document,
    items: listItems(document),
    integrations: new Map(integrations.map((integration) => [integration.name, integration])),
    ids: {
      destinations: new Map(destinations.map(({ id, name }) => [name, id])),
      topics: new Map(topics.map(({ id, name }) => [name, id])),
      jwtKeys: new Map(jwtKeys.map(({ id, publicKeyPem }) => [publicKeyPem, id])),
    },
  };
}

interface NamedRow {
  id: string;
  name: string;
}

async function readTopics(
  client: Pick<Client, 'eventTopicRoute' | 'topicDestinationRoute'>,
  projectId: string,
  { topics, destinations }: Record<'topics' | 'destinations', readonly NamedRow[]>,
): Promise<CanonicalTopic[]> {
  const eventRoutes = await client.eventTopicRoute.findMany({ where: { projectId } });
  const destinationRoutes = await client.topicDestinationRoute.findMany({ where: { projectId } });
  const destinationNames = new Map(destinations.map(({ id, name }) => [id, name]));
  const eventRoutesByTopic = Map.groupBy(eventRoutes, ({ topicId }) => topicId);
  const destinationRoutesByTopic = Map.groupBy(destinationRoutes, ({ topicId }) => topicId);
  const canonicalTopics = topics.map(({ id, name }) =>
    toCanonicalTopic({
      name,
      eventTypes: (eventRoutesByTopic.get(id) ?? []).map((route) =>
        toEventWireName(route.eventType),
      ),
      destinations: (destinationRoutesByTopic.get(id) ?? []).flatMap(
        ({ destinationId }) => destinationNames.get(destinationId) ?? [],
      ),
    }),
  );
  return canonicalTopics.sort(createStringComparator(({ name }) => name));
}

async function readIntegrations(
  client: Pick<Client, 'integration' | 'revision'>,
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

/** Returns a destination in canonical form, without secrets. */
function toCanonicalDestination({
  name,
  type,
  status,
  ...target
}: Pick<
  Row<'Destination'>,
  'name' | 'type' | 'status' | 'url' | 'maskedHeaders'
>): CanonicalDestination {
  if (type === 'STREAM') return { name, type: 'stream' };
  const { url, headers } = maskTarget(target);
  const names = Object.keys(headers ?? {}).map((header) => header.toLowerCase());
  return {
    name,
    type: 'webhook',
    ...(url !== null && { url }),
    ...(names.length > 0 && { headers: names.sort(createStringComparator(String)) }),
    ...(status === 'DISABLED' && { status: 'disabled' as const }),
  };
}
