/** The initial tabs of GraphiQL: the main queries and mutations, with the demo's API key in their headers. */
import type { Demo } from './demo.ts';

/** A tab of GraphiQL. */
interface Tab {
  query: string;
  headers: Record<string, string>;
}

/**
 * Returns queries that select the values of variables in the tabs. GraphiQL runs them when a tab runs, so that a
 * person pastes no id.
 */
export function createVariableQueries(demo: Demo | null): Record<string, string> {
  if (!demo) return {};
  return {
    newestOperation: '{ project { operations(first: 1) { nodes { id } } } }',
    beforeLastEvent: '{ project { notificationEvents(last: 2) { edges { cursor } } } }',
    beforeLastMessage: `{ project { destination(idOrName: "${demo.streamId}") { messages(last: 2) { edges { cursor } } } } }`,
  };
}

export function createDemoTabs(demo: Demo | null): Tab[] {
  if (!demo) return [];
  const headers = { 'x-api-key': demo.apiKey };
  return [
    OVERVIEW,
    OPERATIONS,
    GENERATE_CONNECTION,
    EVENTS,
    createMessagesQuery(demo.streamId),
    WRITE_RECORD,
    createMetadataQuery(demo.installationId),
    TRIGGER_READ,
    WATCH_OPERATION,
    createChangesQuery(demo),
    CATALOG,
  ].map((query) => ({ query, headers }));
}

/** Returns the tabs of the demo's typed API at /graphql/projects/demo. */
export function createTypedDemoTabs(demo: Demo | null): Tab[] {
  if (!demo) return [];
  const headers = { 'x-api-key': demo.apiKey };
  return [PEOPLE, CREATE_PERSON, COMPANIES_CHANGED].map((query) => ({ query, headers }));
}

const PEOPLE = `# One object of two customers, who use different
# providers. The gateway reads both accounts now.
query People {
  acme: people(group: "acme", first: 3) {
    nodes { ...Person }
    pageInfo { hasNextPage endCursor }
  }
  initech: people(group: "initech", first: 3) {
    nodes { ...Person _raw }
  }
}

fragment Person on PeopleRecord {
  id
  emailAddress
  lastname
  _installation { group integration }
}
`;

const CREATE_PERSON = `# Creates a person in the account of a customer,
# in the form of its provider.
mutation CreatePerson {
  createPeople(
    group: "initech"
    input: { emailAddress: "radia@example.test", lastname: "Perlman" }
    idempotencyKey: "radia"
  ) {
    success
    id
    errors
    operationId
  }
}
`;

const COMPANIES_CHANGED = `# Stays open until you leave this tab.
# In /graphql, run TriggerRead with the
# objectName "companies".
subscription CompaniesChanged {
  companiesChanged(group: "acme") {
    cursor
    changes {
      kind
      record { id name domain }
    }
  }
}
`;

const OVERVIEW = `# The demo's project at a glance: run this query with the play button.
query Overview {
  viewer { kind scopes }
  project(idOrName: "demo") {
    id
    name
    appName
    connections(first: 10) {
      totalCount
      nodes {
        id
        authScheme
        status
        group { groupName }
        consumer { consumerName }
      }
    }
    integrations { nodes { id name latestRevision { content { displayName } } } }
    installations { nodes { id healthStatus objects { objectName nextReadTime backfillDone } } }
    topics { nodes { id name } }
    destinations { nodes { id name url status } }
  }
}
`;

const OPERATIONS = `# The first page. For the next one, pass endCursor:
# operations(first: 10, after: "…")
query Operations {
  project(idOrName: "demo") {
    operations(first: 10) {
      totalCount
      edges {
        cursor
        node { id actionType status result createTime }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
}
`;

const GENERATE_CONNECTION = `# Connects an account at the sandbox.
# Then run the tab Events to see the event.
# A second run changes the connection.
mutation GenerateConnection {
  generateConnection(input: {
    projectIdOrName: "demo"
    provider: "sandbox"
    groupRef: "acme"
    consumerRef: "niklaus"
    consumerName: "Niklaus Wirth"
    credentials: { apiKey: "sandbox-key" }
  }) {
    connection { id status authScheme createTime }
  }
}
`;

const EVENTS = `# The last event, like that of GenerateConnection,
# and new ones. Stays open until you leave this tab.
subscription Events($beforeLastEvent: String) {
  notificationEvents(
    projectIdOrName: "demo"
    after: $beforeLastEvent
  ) {
    cursor
    node {
      id
      eventType
      createTime
      data
      connection { id status }
    }
  }
}
`;

const createMessagesQuery = (streamId: string) => `# The last message of the stream "live", and new
# ones. Stays open until you leave this tab.
# After a break, a client passes its last cursor.
subscription Messages($beforeLastMessage: String) {
  streamMessages(
    destinationId: "${streamId}"
    after: $beforeLastMessage
  ) {
    cursor
    node { id createTime body }
  }
}
`;

const WRITE_RECORD = `# Writes a record to the sandbox over HTTP.
# sandboxUrl in demo.json shows it.
mutation WriteRecord {
  writeRecords(input: {
    projectIdOrName: "demo"
    integrationIdOrName: "crm-sync"
    objectName: "deals"
    groupRef: "acme"
    type: CREATE
    records: { record: { name: "A deal from GraphiQL", amount: 1200.5 } }
  }) {
    operation { id status result }
    result { success recordId data errors { message } }
  }
}
`;

const createMetadataQuery = (installationId: string) => `# The fields of an object, as its provider
# describes them.
query Metadata {
  node(id: "${installationId}") {
    ... on Installation {
      objectMetadata(objectName: "contacts", excludeReadOnly: true) {
        name
        mappedObjectName
        fields {
          fieldName
          displayName
          valueType
          isRequired
          values { value displayValue }
        }
      }
    }
  }
}
`;

const createChangesQuery = ({
  installationId,
  sandboxUrl,
}: Demo) => `# Changed contacts that the sandbox reports.
# Change one, and run this query again:
# curl -X PATCH ${sandboxUrl}/objects/contacts/records/1 \\
#   -H 'x-api-key: sandbox-key' \\
#   -H 'content-type: application/json' \\
#   -d '{"record":{"phone":"+1 555 0100"}}'
query Changes {
  node(id: "${installationId}") {
    ... on Installation {
      subscriptions {
        objectName
        kinds
        status
        error
        eventCount
        lastEventTime
        destination {
          name
          deliveries(last: 3) { nodes { id status createTime } }
        }
      }
    }
  }
}
`;

const CATALOG = `# The providers, what the gateway supports of
# each, and the inputs that connecting needs.
query Catalog {
  providers(first: 500) {
    totalCount
    nodes {
      name
      displayName
      supports
      objects { name displayName }
      inputs { name displayName }
      docsUrl
    }
  }
}
`;

const TRIGGER_READ = `# Reads the group's contacts now. Their pages
# go to the destination "records".
# Then run the tab WatchOperation.
mutation TriggerRead {
  triggerRead(input: {
    projectIdOrName: "demo"
    integrationIdOrName: "crm-sync"
    objectName: "contacts"
    groupRef: "acme"
  }) {
    operation { id status }
  }
}
`;

const WATCH_OPERATION = `# Shows the newest operation, like that of
# TriggerRead, until it has ended.
subscription WatchOperation($newestOperation: ID!) {
  operation(id: $newestOperation) {
    id
    status
    result
    metadata { progress { objectName recordsProcessed } }
  }
}
`;
