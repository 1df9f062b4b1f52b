/** The operations that every peer receives. Each run adds the variables. */
import { PROJECT_NAME } from './fill.ts';

export const WORKLOADS = ['W0', 'W1', 'W1-deep', 'W2', 'W3', 'W4'] as const;
export type Workload = (typeof WORKLOADS)[number];

export const WORKLOAD_DESCRIPTIONS: Record<Workload, string> = {
  W0: '{ __typename }',
  W1: 'Relay page of 50 operations',
  'W1-deep': 'Relay page of 50 operations, deep in the list',
  W2: 'project, 20 connections, their group, consumer, provider app',
  W3: 'one operation by id',
  W4: 'create an API key',
};

export type Document = 'Ping' | 'Operations' | 'Connections' | 'Node' | 'CreateKey';
export type Documents = Record<Document, string>;

export const DOCUMENT_BY_WORKLOAD: Record<Workload, Document> = {
  W0: 'Ping',
  W1: 'Operations',
  'W1-deep': 'Operations',
  W2: 'Connections',
  W3: 'Node',
  W4: 'CreateKey',
};

export const OPERATION_FIELDS =
  'id actionType status result createTime updateTime integrationId installationId configId';

/** Documents for the gateway's schema, which most peers copy. */
export const DOCUMENTS: Documents = {
  Ping: 'query Ping { __typename }',
  Operations: `query Operations($project: String!, $first: Int!, $after: String) {
    project(idOrName: $project) {
      operations(first: $first, after: $after) {
        edges { node { ${OPERATION_FIELDS} metadata { objects successfulRecordIds } } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }`,
  Connections: `query Connections($project: String!) {
    project(idOrName: $project) {
      id name appName
      connections(first: 20) {
        edges {
          node {
            id provider authScheme status createTime
            group { id groupRef groupName }
            consumer { id consumerRef consumerName }
            providerApp { id provider clientId scopes }
          }
        }
      }
    }
  }`,
  Node: `query Node($id: ID!) {
    node(id: $id) { id ... on Operation { actionType status result createTime updateTime } }
  }`,
  CreateKey: `mutation CreateKey($project: String!) {
    createApiKey(input: { projectIdOrName: $project, label: "bench", scopes: [READ] }) {
      apiKey { id label scopes active prefix createTime }
      key
    }
  }`,
};

export const PAGE_SIZE = 50;
/** The number of rows before the deep page, if the list has as many. */
export const DEEP_ROWS = 100_000;
const NODE_COUNT = 2_000;

export type Variables = Record<string, unknown>;

/** Returns a query for random ids of operations. Equal seeds select equal ids. */
export function createNodeQuery(seed: number): { text: string; values: unknown[] } {
  const text = `
    select id from "Operation" where "projectId" = (select id from "Project" where name = $1)
    order by md5($2 || id) limit ${NODE_COUNT}`;
  return { text, values: [PROJECT_NAME, String(seed)] };
}
