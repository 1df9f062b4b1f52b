/** Resolvers with hand-written SQL, and the statements that load relations for all rows of a level together. */
import { GraphQLScalarType } from 'graphql';
import type pg from 'pg';
import { createKey } from './new-key.ts';
import { createPage, decodeCursor } from './page.ts';
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

export interface Row {
  id: string;
  [column: string]: unknown;
}

/** Runs a prepared statement. */
export type Query = (name: string, text: string, values: unknown[]) => Promise<Row[]>;

export const createQuery =
  (pool: pg.Pool): Query =>
  async (name, text, values) =>
    (await pool.query<Row>({ name, text, values })).rows;

interface PageArgs {
  first: number;
  after?: string | null;
}

interface KeyArgs {
  input: { projectIdOrName: string; label: string; scopes: string[] };
}

export const createSqlResolvers = (query: Query, projectId: string) => ({
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
  Mutation: {
    async createApiKey(_root: unknown, { input }: KeyArgs) {
      const { key, values } = createKey(input.projectIdOrName, input.label, input.scopes);
      const [apiKey] = await query('key', CREATE_KEY, values);
      return { apiKey, key };
    },
  },
});

/** The relations of a connected account: the column with the id, and the statement that loads rows by their ids. */
export const RELATIONS = {
  group: { column: 'groupId', text: GROUPS },
  consumer: { column: 'consumerId', text: CONSUMERS },
  providerApp: { column: 'providerAppId', text: PROVIDER_APPS },
};
export type Relation = keyof typeof RELATIONS;

/** Returns a function that loads the rows of a relation in the order of their ids. */
export const createRowLoader =
  (query: Query, projectId: string, relation: Relation) => async (ids: readonly unknown[]) => {
    const rows = await query(relation, RELATIONS[relation].text, [ids, projectId]);
    const rowsById = new Map<unknown, Row>(rows.map((row) => [row.id, row]));
    return ids.map((id) => rowsById.get(id) ?? null);
  };
