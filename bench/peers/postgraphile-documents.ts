/** The workloads in PostGraphile's schema, with aliases that give the gateway's shape. */
import type { Documents } from '../workloads.ts';
import { DOCUMENTS, OPERATION_FIELDS } from '../workloads.ts';

export const POSTGRAPHILE_DOCUMENTS: Documents = {
  Ping: DOCUMENTS.Ping,
  Operations: `query Operations($project: String!, $first: Int!, $after: Cursor) {
    project: projectByName(name: $project) {
      operations: operationsByProjectId(first: $first, after: $after, orderBy: [ROW_ID_DESC]) {
        edges { node { ${OPERATION_FIELDS.replace('id ', 'id: rowId ')} metadata } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }`,
  Connections: `query Connections($project: String!) {
    project: projectByName(name: $project) {
      id: rowId name appName
      connections: connectionsByProjectId(first: 20, orderBy: [ROW_ID_DESC]) {
        edges {
          node {
            id: rowId provider authScheme status createTime
            group: groupByProjectIdAndGroupId { id: rowId groupRef groupName }
            consumer: consumerByProjectIdAndConsumerId { id: rowId consumerRef consumerName }
            providerApp: providerAppByProjectIdAndProviderAppId { id: rowId provider clientId scopes }
          }
        }
      }
    }
  }`,
  Node: `query Node($id: String!) {
    node: operationOfProject(rowId: $id) {
      id: rowId actionType status result createTime updateTime
    }
  }`,
  CreateKey: `mutation CreateKey($project: String!) {
    createApiKey: makeKey(project: $project, label: "bench", scopes: ["READ"]) {
      apiKey { id label scopes active prefix createTime }
      key
    }
  }`,
};
