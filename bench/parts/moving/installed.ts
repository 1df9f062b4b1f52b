/** A project whose groups have connected the sandbox and installed an integration, created through the gateway. */
import { DESTINATION, GROUPS, INTEGRATION, PROJECT } from './documents.ts';

export interface Installed {
  sandboxUrl: string;
  integrationId: string;
  /** Installations by the ref of their group. */
  installations: Record<string, { installationId: string; configId: string; groupId: string }>;
  topicId: string;
  destinationId: string;
}

/** Sends an operation to the gateway; throws its errors. */
// biome-ignore lint/suspicious/noExplicitAny: what is asked for is read
export type Ask = (query: string, input: object) => Promise<any>;

const ID = 'id';

export async function install(
  ask: Ask,
  sandboxUrl: string,
  receiverUrl: string,
): Promise<Installed> {
  const own = { projectIdOrName: PROJECT };
  const make = async (name: string, input: object, selection: string) => {
    const query = `mutation ($input: ${name[0]?.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`;
    return (await ask(query, { ...own, ...input }))[name];
  };
  const { destination } = await make(
    'createDestination',
    { name: DESTINATION, type: 'WEBHOOK', url: receiverUrl },
    `destination { ${ID} }`,
  );
  const { topic } = await make('createTopic', { name: 'all' }, `topic { ${ID} }`);
  const route = { topicId: topic.id };
  await make(
    'createEventTopicRoute',
    { ...route, eventType: 'CONNECTION_CREATED' },
    `eventTopicRoute { ${ID} }`,
  );
  await make(
    'createTopicDestinationRoute',
    { ...route, destinationId: destination.id },
    `topicDestinationRoute { ${ID} }`,
  );
  const { integration } = await make(
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
    `integration { ${ID} }`,
  );
  const installations: Installed['installations'] = {};
  for (const groupRef of GROUPS) {
    const credentials = { apiKey: 'sandbox-key-bench' };
    const account = { provider: 'sandbox', credentials, groupRef, consumerRef: groupRef };
    await make('generateConnection', account, `connection { ${ID} }`);
    const { installation } = await make(
      'createInstallation',
      { integrationIdOrName: INTEGRATION, groupRef },
      `installation { ${ID} config { ${ID} } group { ${ID} } }`,
    );
    installations[groupRef] = {
      installationId: installation.id,
      configId: installation.config.id,
      groupId: installation.group.id,
    };
  }
  return {
    sandboxUrl,
    integrationId: integration.id,
    installations,
    topicId: topic.id,
    destinationId: destination.id,
  };
}
