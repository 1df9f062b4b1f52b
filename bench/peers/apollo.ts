/** Apollo Server 5 with Prisma's client, as their guides combine them. */
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { PrismaPg } from '@prisma/adapter-pg';
import { GraphQLScalarType } from 'graphql';
import { PrismaClient } from '../../src/database/generated/client.ts';
import { readEnvironment } from './environment.ts';
import { createKey } from './new-key.ts';
import { createPage, decodeCursor } from './page.ts';
import { SCHEMA } from './schema.ts';

const { port, databaseUrl, poolSize, projectId } = readEnvironment();
const prisma = new PrismaClient({
  adapter: new PrismaPg({ connectionString: databaseUrl, max: poolSize }),
});

interface Parent {
  id: string;
  projectId: string;
  groupId: string;
  consumerId: string;
  providerAppId: string | null;
}

interface PageArgs {
  first: number;
  after?: string | null;
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
    project: (_root: unknown, { idOrName: name }: { idOrName: string }) =>
      prisma.project.findUnique({ where: { name } }),
    node: (_root: unknown, { id }: { id: string }) =>
      prisma.operation.findUnique({ where: { projectId_id: { projectId, id } } }),
  },
  Node: { __resolveType: () => 'Operation' },
  Project: {
    async operations({ id: projectId }: Parent, { first, after }: PageArgs) {
      const rows = await prisma.operation.findMany({
        where: { projectId },
        orderBy: { id: 'desc' },
        take: first + 1,
        ...(after && { cursor: { projectId_id: { projectId, id: decodeCursor(after) } }, skip: 1 }),
      });
      return createPage(rows, first);
    },
    async connections({ id: projectId }: Parent, { first }: PageArgs) {
      const orderBy = { id: 'desc' } as const;
      const nodes = await prisma.connection.findMany({
        where: { projectId },
        orderBy,
        take: first,
      });
      return { edges: nodes.map((node) => ({ node })) };
    },
  },
  // Prisma's own batching: findUnique calls of one tick become one statement.
  ConnectedAccount: {
    group: ({ projectId, groupId: id }: Parent) =>
      prisma.group.findUnique({ where: { projectId_id: { projectId, id } } }),
    consumer: ({ projectId, consumerId: id }: Parent) =>
      prisma.consumer.findUnique({ where: { projectId_id: { projectId, id } } }),
    providerApp: ({ projectId, providerAppId: id }: Parent) =>
      id && prisma.providerApp.findUnique({ where: { projectId_id: { projectId, id } } }),
  },
  Mutation: {
    async createApiKey(_root: unknown, { input: { projectIdOrName: name, ...input } }: KeyArgs) {
      const { key, row } = createKey(name, input.label, input.scopes);
      const { id: projectId } = await prisma.project.findUniqueOrThrow({ where: { name } });
      return { apiKey: await prisma.apiKey.create({ data: { ...row, projectId } }), key };
    },
  },
};

const server = new ApolloServer({ typeDefs: SCHEMA, resolvers });
await startStandaloneServer(server, { listen: { port, host: '127.0.0.1' } });
