/** The part of the gateway's schema that the workloads use, for peers that take a schema as text. */
export const SCHEMA = `
  scalar DateTime
  interface Node { id: ID! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type OperationMetadata { objects: [String!]! successfulRecordIds: [String!]! }
  type Operation implements Node {
    id: ID!
    actionType: String!
    status: String!
    result: String
    createTime: DateTime!
    updateTime: DateTime
    integrationId: ID!
    installationId: ID!
    configId: ID!
    metadata: OperationMetadata!
  }
  type OperationEdge { node: Operation! }
  type OperationConnection { edges: [OperationEdge!]! pageInfo: PageInfo! }
  type Group { id: ID! groupRef: String! groupName: String! }
  type Consumer { id: ID! consumerRef: String! consumerName: String! }
  type ProviderApp { id: ID! provider: String! clientId: String! scopes: [String!]! }
  type ConnectedAccount {
    id: ID!
    provider: String!
    authScheme: String!
    status: String!
    createTime: DateTime!
    group: Group!
    consumer: Consumer!
    providerApp: ProviderApp
  }
  type ConnectedAccountEdge { node: ConnectedAccount! }
  type ConnectedAccountConnection { edges: [ConnectedAccountEdge!]! }
  type Project {
    id: ID!
    name: String!
    appName: String!
    operations(first: Int!, after: String): OperationConnection!
    connections(first: Int!): ConnectedAccountConnection!
  }
  type ApiKey {
    id: ID!
    label: String!
    scopes: [String!]!
    active: Boolean!
    prefix: String!
    createTime: DateTime!
  }
  type CreateApiKeyPayload { apiKey: ApiKey! key: String! }
  enum Scope { READ }
  input CreateApiKeyInput { projectIdOrName: String! label: String! scopes: [Scope!]! }
  type Query {
    project(idOrName: String!): Project
    node(id: ID!): Node
  }
  type Mutation { createApiKey(input: CreateApiKeyInput!): CreateApiKeyPayload! }
`;

export const SUBSCRIPTIONS = `
  scalar JSONObject
  type NotificationEvent { id: ID! eventType: String! createTime: DateTime! data: JSONObject! }
  type NotificationEventEdge { cursor: String! node: NotificationEvent! }
  type Subscription { notificationEvents(projectIdOrName: String!): NotificationEventEdge! }
`;
