/** GraphQL Yoga on node:http with hand-written SQL, a DataLoader for each relation, and the gateway's duties. */
import { createServer } from 'node:http';
import { costLimitPlugin } from '@escape.tech/graphql-armor-cost-limit';
import { maxDepthPlugin } from '@escape.tech/graphql-armor-max-depth';
import DataLoader from 'dataloader';
import { createSchema, createYoga, type Plugin } from 'graphql-yoga';
import pg from 'pg';
import { pino } from 'pino';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { COST_MAX, createAuthenticate, DEPTH_MAX, openLogStream, RATE_MAX } from './duties.ts';
import { readEnvironment } from './environment.ts';
import { SCHEMA } from './schema.ts';
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
const authenticate = createAuthenticate(pool, projectId);
const rates = new RateLimiterMemory({ points: RATE_MAX, duration: 1 });
const log = pino({}, openLogStream());

type Loaders = Record<Relation, DataLoader<unknown, Row | null>>;

const createLoader = (relation: Relation) =>
  new DataLoader(createRowLoader(query, projectId, relation));

/** Authenticates callers, limits their rates, and logs each request. */
const duties: Plugin = {
  async onRequest({ request, fetchAPI, endResponse }) {
    const key = request.headers.get('x-api-key');
    if (await authenticate(key)) await rates.consume(String(key));
    else endResponse(new fetchAPI.Response(null, { status: 401 }));
  },
};

const createResolver = (relation: Relation) => (row: Row, _args: unknown, loaders: Loaders) => {
  const id = row[RELATIONS[relation].column];
  return id ? loaders[relation].load(id) : null;
};

const yoga = createYoga<object, Loaders>({
  schema: createSchema<Loaders>({
    typeDefs: SCHEMA,
    resolvers: {
      ...createSqlResolvers(query, projectId),
      Node: { __resolveType: () => 'Operation' },
      ConnectedAccount: {
        group: createResolver('group'),
        consumer: createResolver('consumer'),
        providerApp: createResolver('providerApp'),
      },
    },
  }),
  context: () => ({
    group: createLoader('group'),
    consumer: createLoader('consumer'),
    providerApp: createLoader('providerApp'),
  }),
  plugins: [duties, maxDepthPlugin({ n: DEPTH_MAX }), costLimitPlugin({ maxCost: COST_MAX })],
  graphiql: false,
  logging: false,
});

createServer((request, response) => {
  const startMs = performance.now();
  response.on('close', () => {
    const { method, url, socket } = request;
    const { statusCode: status } = response;
    const ms = Math.round(performance.now() - startMs);
    log.info({ method, url, ip: socket.remoteAddress, status, ms }, 'request.ended');
  });
  yoga(request, response);
}).listen(port, '127.0.0.1');
