/** GraphiQL's ready tabs: the main queries and mutations, with the demo's key in their headers. */
import type { GraphiqlTab } from '../graphql/graphiql.ts';
import type { Demo } from './demo.ts';

export function demoTabs(demo: Demo | null): GraphiqlTab[] {
  if (!demo) return [];
  const headers = { 'x-api-key': demo.apiKey };
  const { projectName, integrationId, installationId } = demo;
  return [
    { query: OVERVIEW, variables: { project: projectName }, headers },
    { query: OPERATIONS, variables: { project: projectName, first: 10 }, headers },
    {
      query: GENERATE_CONNECTION,
      variables: {
        input: {
          projectIdOrName: projectName,
          provider: 'sandbox',
          groupRef: 'acme',
          consumerRef: 'niklaus',
          consumerName: 'Niklaus Wirth',
          apiKey: 'sandbox-key',
        },
      },
      headers,
    },
    { query: EVENTS, variables: { project: projectName }, headers },
    {
      query: WRITE_RECORD,
      variables: {
        input: {
          projectIdOrName: projectName,
          integrationIdOrName: integrationId,
          objectName: 'deals',
          groupRef: 'acme',
          type: 'CREATE',
          record: { name: 'A deal from GraphiQL', amount: 1200.5, stage: 'qualified' },
        },
      },
      headers,
    },
    { query: METADATA, variables: { id: installationId, objectName: 'contacts' }, headers },
    {
      query: TRIGGER_READ,
      variables: {
        input: {
          projectIdOrName: projectName,
          integrationIdOrName: integrationId,
          objectName: 'contacts',
          groupRef: 'acme',
        },
      },
      headers,
    },
    { query: WATCH_OPERATION, variables: { id: 'put the operation id here' }, headers },
  ];
}

const OVERVIEW = `# The demo's project at a glance. Run me with the play button.
query Overview($project: String!) {
  viewer { kind scopes }
  project(idOrName: $project) {
    id
    name
    appName
    connections(first: 10) {
      totalCount
      nodes { id provider authScheme status group { groupName } consumer { consumerName } }
    }
    integrations { nodes { id name latestRevision { id content { displayName } } } }
    installations { nodes { id healthStatus objects { objectName nextReadTime backfillDone } } }
    topics { nodes { id name } }
    destinations { nodes { id name url status } }
  }
}
`;

const OPERATIONS = `# Pages: put endCursor into the variable "after" for the next one.
query Operations($project: String!, $first: Int, $after: String) {
  project(idOrName: $project) {
    operations(first: $first, after: $after) {
      totalCount
      edges { cursor node { id actionType status result createTime } }
      pageInfo { hasNextPage endCursor }
    }
  }
}
`;

const GENERATE_CONNECTION = `# Connects an account at the sandbox; watch it arrive in the tab with the subscription.
mutation GenerateConnection($input: GenerateConnectionInput!) {
  generateConnection(input: $input) {
    connection { id status authScheme createTime }
  }
}
`;

const EVENTS = `# Stays open: run it, then generate a connection in the tab before.
subscription Events($project: String!) {
  notificationEvents(projectIdOrName: $project) {
    cursor
    node { id eventType createTime data connection { id status } }
  }
}
`;

const WRITE_RECORD = `# Writes a record to the sandbox over real HTTP.
mutation WriteRecord($input: WriteRecordsInput!) {
  writeRecords(input: $input) {
    operationId
    operation { status result }
    result { success recordId data errors { message } }
  }
}
`;

const METADATA = `# The fields of an object, as the provider tells them.
query Metadata($id: ID!, $objectName: String!) {
  node(id: $id) {
    ... on Installation {
      objectMetadata(objectName: $objectName, excludeReadOnly: true) {
        name
        mappedObjectName
        fields { fieldName displayName valueType isRequired values { value displayValue } }
      }
    }
  }
}
`;

const TRIGGER_READ = `# Reads all contacts of the group now; their pages go to the destination "records".
mutation TriggerRead($input: TriggerReadInput!) {
  triggerRead(input: $input) {
    operation { id status }
  }
}
`;

const WATCH_OPERATION = `# The operation as it is now, then each time that it changes, until it has ended.
subscription WatchOperation($id: ID!) {
  operation(id: $id) {
    id
    status
    result
    metadata { progress { objectName recordsProcessed } }
  }
}
`;
