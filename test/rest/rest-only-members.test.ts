/** Nothing is accepted in silence over REST either: what its requests have beside the mutations' inputs. */
import { type GraphQLInputObjectType, getNamedType } from 'graphql';
import { expect, test } from 'vitest';
import { ENDPOINTS } from '../../src/rest/endpoints.ts';
import { sharedApp } from '../support/app.ts';
import { MUTATIONS } from '../support/inputs/walk-inputs.ts';
import { createProviderApp } from '../support/providers/oauth.ts';
import { type RestInstallation, restInstallation } from '../support/rest/rest-installation.ts';

const app = await sharedApp();

/** Mutations with another name than their endpoint. */
const MUTATION_OF: Record<string, string> = {
  connectByCustomAuth: 'generateConnection',
  createJWTKey: 'createJwtKey',
  updateJWTKey: 'updateJwtKey',
  deleteJWTKey: 'deleteJwtKey',
  unpauseReads: 'resumeReads',
  createNotificationEventTopicRoute: 'createEventTopicRoute',
  deleteNotificationEventTopicRoute: 'deleteEventTopicRoute',
};

/** Changes that are of REST alone, each as a whole. */
const OF_REST: Record<string, string> = {
  createBillingPortalSession: 'There is no such portal: it is refused.',
  deliverResults: 'Records never wait: nothing is left to do, whatever is asked.',
  patchInstallationConfig: 'GraphQL changes the whole config by updateInstallation.',
  searchRecords: 'It changes nothing: GraphQL reads the same by Installation.records.',
};

/** What is refused if it can't be honoured: the place that the refusal names, and a request that has it. */
const REFUSED: Record<string, (rest: RestInstallation) => Refused> = {
  'connectByCustomAuth.sessionId': ({ tenant }) => ({
    path: '/custom-auth/connect',
    body: {
      ...connecting(tenant.projectId),
      customAuth: { accountKey: 'sandbox-key-a' },
      sessionId: 's',
    },
    names: 'sessionId',
  }),
  'connectByCustomAuth.callbackParams': ({ tenant }) => ({
    path: '/custom-auth/connect',
    body: {
      ...connecting(tenant.projectId),
      customAuth: { accountKey: 'sandbox-key-a' },
      callbackParams: {},
    },
    names: 'callbackParams',
  }),
  'createInstallation.configRevisionId': ({ integrationPath }) => ({
    path: `${integrationPath}/installations`,
    body: {
      groupRef: 'other',
      config: { content: { provider: 'sandbox' }, revisionId: 'rev_old' },
    },
    names: 'config.revisionId',
  }),
  'triggerRead.mode': ({ integrationPath }) => ({
    path: `${integrationPath}/objects/contacts:read`,
    body: { groupRef: 'acme', mode: 'sync' },
    names: 'mode',
  }),
  'createDestination.secrets': ({ base }) => ({
    path: `${base}/destinations`,
    body: {
      ...{ name: 'mine', type: 'webhook', metadata: { url: 'https://receiver.test' } },
      secrets: { webhookSigningKey: 'mine' },
    },
    names: 'secrets.webhookSigningKey',
  }),
  'createJWTKey.algorithm': ({ base }) => ({
    path: `${base}/jwt-keys`,
    body: { label: 'a', publicKeyPem: 'b', algorithm: 'HS256' },
    names: 'algorithm',
  }),
  'createRevision.sourceZipUrl': ({ integrationPath }) => ({
    path: `${integrationPath}/revisions`,
    body: { sourceZipUrl: 'https://a.test/b.zip' },
    names: 'sourceZipUrl',
  }),
  'upsertIntegrations.sourceZipUrl': ({ base }) => ({
    method: 'PUT',
    path: `${base}/integrations:batch`,
    body: { sourceZipUrl: 'https://a.test/b.zip' },
    names: 'sourceZipUrl',
  }),
};

interface Refused {
  method?: 'POST' | 'PUT';
  path: string;
  body: object;
  names: string;
}

/** What is honoured, each by tests of its own or by what the words say. */
const HONOURED: Record<string, string> = {
  'startOAuthConnect.enableCSRFProtection': 'Connects are protected with either value.',
  'createRevision.sourceYaml': 'test/rest/integration tests manifests.',
  'upsertIntegrations.sourceYaml': 'test/rest/integration tests manifests.',
  'updateInstallation.integrationIdOrName': 'Another integration is not found.',
  'updateInstallation.updateMask': 'It names what is changed.',
  'updateInstallation.installation': 'It has what the mask names.',
  'deleteInstallation.integrationIdOrName': 'Another integration is not found.',
  'pauseReads.integrationIdOrName': 'Another integration is not found.',
  'unpauseReads.integrationIdOrName': 'Another integration is not found.',
};

const connecting = (projectIdOrName: string) => ({
  ...{ projectIdOrName, provider: 'sandbox', groupRef: 'acme', consumerRef: 'ann' },
});

function fieldsOf(mutation: string): string[] | null {
  const type = MUTATIONS[mutation]?.args[0]?.type;
  return type ? Object.keys((getNamedType(type) as GraphQLInputObjectType).getFields()) : null;
}

function membersOfRest(): string[] {
  return ENDPOINTS.filter(({ method, id }) => method !== 'GET' && !OF_REST[id]).flatMap((one) => {
    const fields = fieldsOf(MUTATION_OF[one.id] ?? one.id);
    if (!fields) return [`${one.id} is no mutation`];
    const members = Object.keys(one.input.shape);
    return members.filter((name) => !fields.includes(name)).map((name) => `${one.id}.${name}`);
  });
}

test('every member that only REST takes is honoured, or refused where it can not be', () => {
  const known = [...Object.keys(REFUSED), ...Object.keys(HONOURED)];
  expect(membersOfRest().sort()).toEqual(known.sort());
});

test('what can not be honoured is refused by its name', async () => {
  const rest = await restInstallation(app);
  await createProviderApp(rest.tenant);
  for (const [member, requestOf] of Object.entries(REFUSED)) {
    const { method = 'POST', path, body, names } = requestOf(rest);
    const { status, issues } = await rest.refusal(method, path, body);
    expect({ status, named: issues?.map(({ name }: { name: string }) => name) }, member).toEqual({
      status: 400,
      named: expect.arrayContaining([names]),
    });
  }
});

test('an installation of another integration is not found by its path', async () => {
  const rest = await restInstallation(app);
  const { id } = rest.installation;
  const elsewhere = `${rest.base}/integrations/none/installations/${id}`;
  for (const path of [`${elsewhere}:pause`, `${elsewhere}:unpause`]) {
    expect(await rest.refusal('POST', path)).toMatchObject({ status: 404 });
  }
  expect(await rest.refusal('DELETE', elsewhere)).toMatchObject({ status: 404 });
});
