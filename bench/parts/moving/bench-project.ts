/** A project whose groups have connected the sandbox and installed an integration, created through the gateway. */
import { DESTINATION, GROUPS, INTEGRATION, PROJECT } from './documents.ts';

export interface BenchProject {
  integrationId: string;
  /** Installations by the ref of their group. */
  installations: Record<string, { installationId: string; configId: string; groupId: string }>;
  topicId: string;
  destinationId: string;
}

/** Sends an operation to the gateway; throws its errors. */
// biome-ignore lint/suspicious/noExplicitAny: callers read only what they select
export type Execute = (query: string, input: object) => Promise<any>;

export async function createBenchProject(
  execute: Execute,
  receiverUrl: string,
): Promise<BenchProject> {
  const project = { projectIdOrName: PROJECT };
  const create = async (name: string, input: object, selection: string) => {
    const query = `mutation ($input: ${name[0]?.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`;
    return (await execute(query, { ...project, ...input }))[name];
  };
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
