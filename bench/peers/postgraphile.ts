/**
 * PostGraphile 5 with the gateway's tables, and with two more fields: one creates a key, and one finds an operation by its
 * id.
 */
import { createServer } from 'node:http';
import { postgraphile } from 'postgraphile';
import { sideEffectWithPgClient } from 'postgraphile/@dataplan/pg';
import { makePgService } from 'postgraphile/adaptors/pg';
import { constant } from 'postgraphile/grafast';
import { grafserv } from 'postgraphile/grafserv/node';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { extendSchema, gql, pgSmartTags } from 'postgraphile/utils';
import { readEnvironment } from './environment.ts';
import { createKey } from './new-key.ts';
import { CREATE_KEY } from './sql.ts';

const { port, databaseUrl, poolSize, projectId } = readEnvironment();

/** The database has an index where PostGraphile expects a constraint. */
const uniqueNamePlugin = pgSmartTags({
  kind: 'class',
  match: 'Project',
  tags: { unique: 'name' },
});

const createKeyPlugin = extendSchema((build) => {
  const { executor } = build.input.pgRegistry.pgResources.ApiKey!;
  return {
    typeDefs: gql`
      type NewKey { id: String! label: String! scopes: [String!]! active: Boolean! prefix: String! createTime: Datetime! }
      type NewKeyPayload { apiKey: NewKey! key: String! }
      extend type Mutation { makeKey(project: String!, label: String!, scopes: [String!]!): NewKeyPayload }
    `,
    objects: {
      Mutation: {
        plans: {
          makeKey: (_root, { $project, $label, $scopes }) =>
            sideEffectWithPgClient(
              executor,
              [$project!, $label!, $scopes!],
              async (client, [project, label, scopes]) => {
                const { key, values } = createKey(project, label, scopes);
                const { rows } = await client.query({ name: 'key', text: CREATE_KEY, values });
                return { apiKey: rows[0], key };
              },
            ),
        },
      },
    },
  };
});

/** The primary key of an operation includes its project, but requests have only the id. */
const operationByIdPlugin = extendSchema((build) => {
  const { Operation } = build.input.pgRegistry.pgResources;
  return {
    typeDefs: gql`
      extend type Query { operationOfProject(rowId: String!): Operation }
    `,
    objects: {
      Query: {
        plans: {
          operationOfProject: (_root, { $rowId }) =>
            Operation!.get({ projectId: constant(projectId), id: $rowId! }),
        },
      },
    },
  };
});

const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  plugins: [uniqueNamePlugin, createKeyPlugin, operationByIdPlugin],
  pgServices: [
    makePgService({
      connectionString: databaseUrl,
      schemas: ['public'],
      poolConfig: { max: poolSize },
    }),
  ],
  grafserv: { port, graphqlPath: '/graphql', graphiql: false, watch: false },
});
const server = createServer();
const grafservServer = instance.createServ(grafserv);
await grafservServer.addTo(server);
server.listen(port, '127.0.0.1');
