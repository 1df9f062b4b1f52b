/**
 * The project that parts on an empty database use. The groups of the project have connected the sandbox and installed an
 * integration.
 */
import type pg from 'pg';
import { newId } from '../src/kernel/ids.ts';
import { createApiKey } from './database.ts';
import { PROJECT_NAME } from './fill.ts';
import { DESTINATION, GROUPS, INTEGRATION } from './parts/moving/documents.ts';
import type { Server } from './processes/server.ts';

export interface BenchProject {
  integrationId: string;
  /** Installations by the ref of their group. */
  installations: Record<string, { installationId: string; configId: string; groupId: string }>;
  topicId: string;
  destinationId: string;
}

// biome-ignore lint/suspicious/noExplicitAny: callers read only the fields that they select
export type Execute = (query: string, input: object, operationName?: string) => Promise<any>;

/** Returns a function that sends an operation to the server and throws the errors of its response. */
export const createExecute =
  (server: Server, headers: Record<string, string>): Execute =>
  async (query, input, operationName) => {
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, operationName, variables: { input } }),
    });
    const { data, errors } = (await response.json()) as { data: object; errors?: object[] };
    if (errors) throw new Error(`${query}: ${JSON.stringify(errors)}`);
    return data;
  };

/** Runs a mutation in the project, and returns the selected fields of its payload. */
export async function runMutation(
  execute: Execute,
  name: string,
  input: object,
  selection: string,
) {
  const operationName = `${name[0]?.toUpperCase()}${name.slice(1)}`;
  const query = `mutation ${operationName}($input: ${operationName}Input!) { ${name}(input: $input) { ${selection} } }`;
  const data = await execute(query, { projectIdOrName: PROJECT_NAME, ...input });
  return data[name];
}

/** Inserts an empty project and returns its id. */
export async function insertProject(client: pg.Client): Promise<string> {
  const orgId = newId('org');
  const projectId = newId('prj');
  await client.query('insert into "Org" (id, label) values ($1, $1)', [orgId]);
  await client.query(
    `insert into "Project" (id, "orgId", name, "appName") values ($1, $2, $3, $3)`,
    [projectId, orgId, PROJECT_NAME],
  );
  return projectId;
}

/**
 * Inserts a project with an API key. The benchmark holds the sandbox's lease, so that no process of the gateway runs the
 * sandbox.
 */
export async function createProject(client: pg.Client, sandboxUrl: string) {
  const projectId = await insertProject(client);
  const { apiKey, statements } = createApiKey();
  for (const { text, values } of statements) await client.query(text, values);
  await client.query(
    `insert into "SandboxLease" (id, token, url, "expireTime") values (1, 'bench', $1, now() + interval '1 day')`,
    [sandboxUrl],
  );
  return { apiKey, projectId };
}

/** Creates destinations, an integration and connected groups through the gateway. */
export async function createBenchProject(
  execute: Execute,
  receiverUrl: string,
): Promise<BenchProject> {
  const create = (name: string, input: object, selection: string) =>
    runMutation(execute, name, input, selection);
  const { destination } = await create(
    'createDestination',
    { name: DESTINATION, type: 'WEBHOOK', url: receiverUrl },
    `destination { id }`,
  );
  const { topic } = await create('createTopic', { name: 'all' }, `topic { id }`);
  const route = { topicId: topic.id };
  await create(
    'createEventTopicRoute',
    { ...route, eventType: 'CONNECTION_CREATED' },
    `eventTopicRoute { id }`,
  );
  await create(
    'createTopicDestinationRoute',
    { ...route, destinationId: destination.id },
    `topicDestinationRoute { id }`,
  );
  const { integration } = await create(
    'createIntegration',
    {
      name: INTEGRATION,
      provider: 'sandbox',
      latestRevision: {
        specVersion: '1.0.0',
        content: {
          name: INTEGRATION,
          provider: 'sandbox',
          read: {
            objects: [
              {
                objectName: 'contacts',
                destination: DESTINATION,
                requiredFields: [{ fieldName: 'email' }, { fieldName: 'lastname' }],
              },
            ],
          },
          write: { objects: [{ objectName: 'contacts' }] },
        },
      },
    },
    `integration { id }`,
  );
  const installations: BenchProject['installations'] = {};
  for (const groupRef of GROUPS) {
    const credentials = { apiKey: 'sandbox-key-bench' };
    const account = { provider: 'sandbox', credentials, groupRef, consumerRef: groupRef };
    await create('generateConnection', account, `connection { id }`);
    const { installation } = await create(
      'createInstallation',
      { integrationIdOrName: INTEGRATION, groupRef },
      `installation { id config { id } group { id } }`,
    );
    installations[groupRef] = {
      installationId: installation.id,
      configId: installation.config.id,
      groupId: installation.group.id,
    };
  }
  return {
    integrationId: integration.id,
    installations,
    topicId: topic.id,
    destinationId: destination.id,
  };
}
