/** Mercurius, tuned as its users would tune it: compiled queries, hand-written SQL, and a loader for each relation. */
import Fastify from 'fastify';
import { GraphQLScalarType } from 'graphql';
import mercurius from 'mercurius';
import pg from 'pg';
import { readEnvironment } from './environment.ts';
import { followEvents } from './events.ts';
import { createKey } from './new-key.ts';
import { createPage, decodeCursor, encodeCursor } from './page.ts';
import { SCHEMA, SUBSCRIPTIONS } from './schema.ts';
import {
  CONNECTIONS,
  CONSUMERS,
  CREATE_KEY,
  FIND_OPERATION,
  FIND_PROJECT,
  GROUPS,
  PAGE_OF_ID,
  PROVIDER_APPS,
} from './sql.ts';

const { port, databaseUrl, poolSize, projectId } = readEnvironment();
const pool = new pg.Pool({ connectionString: databaseUrl, max: poolSize });

interface Row {
  id: string;
  [column: string]: unknown;
}

const query = async (name: string, text: string, values: unknown[]): Promise<Row[]> =>
  (await pool.query<Row>({ name, text, values })).rows;

interface QueuedRow {
  obj: Row;
}

/** Returns the loader of a relation by an id of the row. One statement loads all rows of a level. */
const createRelationLoader =
  (name: string, text: string, column: string) => async (queue: QueuedRow[]) => {
    const ids = queue.map(({ obj }) => obj[column]);
    const rowsById = new Map(
      (await query(name, text, [ids, projectId])).map((row) => [row.id, row]),
    );
    return ids.map((id) => rowsById.get(id as string) ?? null);
  };

interface PageArgs {
  first: number;
  after?: string | null;
}

interface ProjectArgs {
  projectIdOrName: string;
}

interface Context {
  pubsub: { subscribe(topic: string): Promise<unknown> };
}

interface KeyArgs {
  input: { projectIdOrName: string; label: string; scopes: string[] };
}

const resolvers = {
  DateTime: new GraphQLScalarType({
    name: 'DateTime',
    serialize: (value) => (value as Date).toISOString(),
  }),
  Query: {
    project: async (_root: unknown, { idOrName }: { idOrName: string }) =>
      (await query('project', FIND_PROJECT, [idOrName]))[0] ?? null,
    node: async (_root: unknown, { id }: { id: string }) =>
      (await query('node', FIND_OPERATION, [id, projectId]))[0] ?? null,
  },
  Node: { resolveType: () => 'Operation' },
  Project: {
    async operations({ id }: Row, { first, after }: PageArgs) {
      const belowId = after ? decodeCursor(after) : null;
      return createPage(await query('page', PAGE_OF_ID, [id, belowId, first + 1]), first);
    },
    async connections({ id }: Row, { first }: PageArgs) {
      const nodes = await query('connections', CONNECTIONS, [id, first]);
      return { edges: nodes.map((node) => ({ node })) };
    },
  },
  Subscription: {
    notificationEvents: {
      async subscribe(_root: unknown, { projectIdOrName }: ProjectArgs, { pubsub }: Context) {
        const [project] = await query('project', FIND_PROJECT, [projectIdOrName]);
        return pubsub.subscribe(`events ${project?.id}`);
      },
    },
  },
  Mutation: {
    async createApiKey(_root: unknown, { input }: KeyArgs) {
      const { key, values } = createKey(input.projectIdOrName, input.label, input.scopes);
      const [apiKey] = await query('key', CREATE_KEY, values);
      return { apiKey, key };
    },
  },
};

const loaders = {
  ConnectedAccount: {
    group: createRelationLoader('groups', GROUPS, 'groupId'),
    consumer: createRelationLoader('consumers', CONSUMERS, 'consumerId'),
    providerApp: createRelationLoader('apps', PROVIDER_APPS, 'providerAppId'),
  },
};

const app = Fastify();
await app.register(mercurius, {
  schema: `${SCHEMA}${SUBSCRIPTIONS}`,
  resolvers,
  loaders,
  jit: 1,
  subscription: true,
});
await app.listen({ port, host: '127.0.0.1' });
await followEvents(databaseUrl, (projectId, node) => {
  const notificationEvents = { cursor: encodeCursor(node.id), node };
  app.graphql.pubsub.publish({
    topic: `events ${projectId}`,
    payload: { notificationEvents },
  });
});
