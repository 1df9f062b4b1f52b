/** Mercurius, tuned as its users would tune it: compiled queries, hand-written SQL, and a loader for each relation. */
import { costLimitRule } from '@escape.tech/graphql-armor-cost-limit';
import rateLimit from '@fastify/rate-limit';
import Fastify, { type FastifyInstance } from 'fastify';
import mercurius from 'mercurius';
import pg from 'pg';
import {
  COST_MAX,
  createAuthenticate,
  DEPTH_MAX,
  hasDuties,
  openLogStream,
  RATE_MAX,
} from './duties.ts';
import { readEnvironment } from './environment.ts';
import { followEvents } from './events.ts';
import { encodeCursor } from './page.ts';
import { SCHEMA, SUBSCRIPTIONS } from './schema.ts';
import { FIND_PROJECT } from './sql.ts';
import {
  createQuery,
  createRowLoader,
  createSqlResolvers,
  RELATIONS,
  type Relation,
  type Row,
} from './sql-resolvers.ts';

const { port, databaseUrl, poolSize, projectId } = readEnvironment();
const pool = new pg.Pool({ connectionString: databaseUrl, max: poolSize });
const query = createQuery(pool);

interface QueuedRow {
  obj: Row;
}

const createRelationLoader = (relation: Relation) => {
  const loadRows = createRowLoader(query, projectId, relation);
  const { column } = RELATIONS[relation];
  return (queue: QueuedRow[]) => loadRows(queue.map(({ obj }) => obj[column]));
};

interface ProjectArgs {
  projectIdOrName: string;
}

interface Context {
  pubsub: { subscribe(topic: string): Promise<unknown> };
}

const resolvers = {
  ...createSqlResolvers(query, projectId),
  Node: { resolveType: () => 'Operation' },
  Subscription: {
    notificationEvents: {
      async subscribe(_root: unknown, { projectIdOrName }: ProjectArgs, { pubsub }: Context) {
        const [project] = await query('project', FIND_PROJECT, [projectIdOrName]);
        return pubsub.subscribe(`events ${project?.id}`);
      },
    },
  },
};

const loaders = {
  ConnectedAccount: {
    group: createRelationLoader('group'),
    consumer: createRelationLoader('consumer'),
    providerApp: createRelationLoader('providerApp'),
  },
};

/** Authenticates callers, limits their rates, and logs each request, by the packages of Fastify. */
async function addDuties(app: FastifyInstance): Promise<void> {
  const authenticate = createAuthenticate(pool, projectId);
  app.addHook('onRequest', async ({ headers }, reply) => {
    if (!(await authenticate(headers['x-api-key']))) return reply.code(401).send({ errors: [] });
  });
  await app.register(rateLimit, {
    max: RATE_MAX,
    timeWindow: 1_000,
    keyGenerator: ({ headers }) => String(headers['x-api-key']),
  });
  app.addHook('onResponse', ({ log, method, url, ip }, reply, done) => {
    const { statusCode: status, elapsedTime: ms } = reply;
    log.info({ method, url, ip, status, ms: Math.round(ms) }, 'request.ended');
    done();
  });
}

const app: FastifyInstance = Fastify({
  disableRequestLogging: true,
  ...(hasDuties && { logger: { stream: openLogStream() } }),
});
if (hasDuties) await addDuties(app);
await app.register(mercurius, {
  schema: `${SCHEMA}${SUBSCRIPTIONS}`,
  resolvers,
  loaders,
  jit: 1,
  subscription: true,
  ...(hasDuties && {
    queryDepth: DEPTH_MAX,
    validationRules: [costLimitRule({ maxCost: COST_MAX })],
  }),
});
await app.listen({ port, host: '127.0.0.1' });
await followEvents(databaseUrl, (projectId, node) => {
  const notificationEvents = { cursor: encodeCursor(node.id), node };
  app.graphql.pubsub.publish({
    topic: `events ${projectId}`,
    payload: { notificationEvents },
  });
});
