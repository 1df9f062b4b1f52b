/** Checks that each member which only REST requests have is supported or refused, and that none is ignored. */
import { type GraphQLInputObjectType, getNamedType, isInputObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { ENDPOINTS } from '../../src/rest/endpoints.ts';
import { getSharedApp } from '../support/app.ts';
import { MUTATIONS } from '../support/inputs/walk-inputs.ts';
import { createProviderApp } from '../support/providers/oauth.ts';
import {
  createRestInstallation,
  type RestInstallation,
} from '../support/rest/rest-installation.ts';

const app = await getSharedApp();

/** The mutations whose names differ from their endpoint's. */
const MUTATION_BY_ENDPOINT: Record<string, string> = {
  connectByCustomAuth: 'generateConnection',
  createJWTKey: 'createJwtKey',
  updateJWTKey: 'updateJwtKey',
  deleteJWTKey: 'deleteJwtKey',
  unpauseReads: 'resumeReads',
  createNotificationEventTopicRoute: 'createEventTopicRoute',
  deleteNotificationEventTopicRoute: 'deleteEventTopicRoute',
};

/** Endpoints without a mutation, with the reason. */
const REST_ONLY: Record<string, string> = {
  createBillingPortalSession: 'Refused, because the gateway has no billing portal.',
  deliverResults: 'Does nothing, because the gateway delivers all records without a request.',
  patchInstallationConfig: 'GraphQL replaces the whole config by `updateInstallation`.',
  searchRecords: 'Reads records, like `Installation.records` of GraphQL.',
};

/** Refused members, each with a request that contains it and the name that the refusal must contain. */
const REFUSED_MEMBERS: Record<string, (rest: RestInstallation) => RefusedRequest> = {
  'connectByCustomAuth.sessionId': ({ tenant }) => ({
    path: '/custom-auth/connect',
    body: {
      ...createConnectInput(tenant.projectId),
      customAuth: { accountKey: 'sandbox-key-a' },
      sessionId: 's',
    },
    refusedName: 'sessionId',
  }),
  'connectByCustomAuth.callbackParams': ({ tenant }) => ({
    path: '/custom-auth/connect',
    body: {
      ...createConnectInput(tenant.projectId),
      customAuth: { accountKey: 'sandbox-key-a' },
      callbackParams: {},
    },
    refusedName: 'callbackParams',
  }),
  'createInstallation.configRevisionId': ({ integrationPath }) => ({
    path: `${integrationPath}/installations`,
    body: {
      groupRef: 'other',
      config: { content: { provider: 'sandbox' }, revisionId: 'rev_old' },
    },
    refusedName: 'config.revisionId',
  }),
  'triggerRead.mode': ({ integrationPath }) => ({
    path: `${integrationPath}/objects/contacts:read`,
    body: { groupRef: 'acme', mode: 'sync' },
    refusedName: 'mode',
  }),
  'createDestination.secrets': ({ base }) => ({
    path: `${base}/destinations`,
    body: {
      ...{ name: 'mine', type: 'webhook', metadata: { url: 'https://receiver.test' } },
      secrets: { webhookSigningKey: 'mine' },
    },
    refusedName: 'secrets.webhookSigningKey',
  }),
  'createJWTKey.algorithm': ({ base }) => ({
    path: `${base}/jwt-keys`,
    body: { label: 'a', publicKeyPem: 'b', algorithm: 'HS256' },
    refusedName: 'algorithm',
  }),
  'createRevision.sourceZipUrl': ({ integrationPath }) => ({
    path: `${integrationPath}/revisions`,
    body: { sourceZipUrl: 'https://a.test/b.zip' },
    refusedName: 'sourceZipUrl',
  }),
  'upsertIntegrations.sourceZipUrl': ({ base }) => ({
    method: 'PUT',
    path: `${base}/integrations:batch`,
    body: { sourceZipUrl: 'https://a.test/b.zip' },
    refusedName: 'sourceZipUrl',
  }),
};

interface RefusedRequest {
  method?: 'POST' | 'PUT';
  path: string;
  body: object;
  refusedName: string;
}

/** Supported members, with what they do or the tests that show it. */
const SUPPORTED_MEMBERS: Record<string, string> = {
  'startOAuthConnect.enableCSRFProtection': 'Connects are protected with either value.',
  'createRevision.sourceYaml': 'test/rest/integration tests manifests.',
  'upsertIntegrations.sourceYaml': 'test/rest/integration tests manifests.',
  'updateInstallation.integrationIdOrName': 'Returns 404 for another integration.',
  'updateInstallation.updateMask': 'Names the changed members.',
  'updateInstallation.installation': 'Contains the members in the mask.',
  'deleteInstallation.integrationIdOrName': 'Returns 404 for another integration.',
  'pauseReads.integrationIdOrName': 'Returns 404 for another integration.',
  'unpauseReads.integrationIdOrName': 'Returns 404 for another integration.',
};

const createConnectInput = (projectIdOrName: string) => ({
  ...{ projectIdOrName, provider: 'sandbox', groupRef: 'acme', consumerRef: 'ann' },
});

function findFields(mutation: string): string[] | null {
  const type = MUTATIONS[mutation]?.args[0]?.type;
  if (!type) return null;
  const fields = Object.values((getNamedType(type) as GraphQLInputObjectType).getFields());
  // REST has the members of a `@oneOf` input next to the other members.
  return fields.flatMap((field) => {
    const type = getNamedType(field.type);
    return isInputObjectType(type) && type.isOneOf ? Object.keys(type.getFields()) : [field.name];
  });
}

function listRestOnlyMembers(): string[] {
  return ENDPOINTS.filter(({ method, id }) => method !== 'GET' && !REST_ONLY[id]).flatMap(
    ({ id, input }) => {
      const fields = findFields(MUTATION_BY_ENDPOINT[id] ?? id);
      if (!fields) return [`${id} is not a mutation`];
      const members = Object.keys(input.shape);
      return members.filter((name) => !fields.includes(name)).map((name) => `${id}.${name}`);
    },
  );
}

test('supports or refuses each member that only REST has', () => {
  const listedMembers = [...Object.keys(REFUSED_MEMBERS), ...Object.keys(SUPPORTED_MEMBERS)];
  expect(listRestOnlyMembers().sort()).toEqual(listedMembers.sort());
});

test('refuses unsupported members by name', async () => {
  const rest = await createRestInstallation(app);
  await createProviderApp(rest.tenant);
  for (const [member, createRequest] of Object.entries(REFUSED_MEMBERS)) {
    const { method = 'POST', path, body, refusedName } = createRequest(rest);
    const { status, issues } = await rest.expectRefusal(method, path, body);
    expect({ status, names: issues?.map(({ name }: { name: string }) => name) }, member).toEqual({
      status: 400,
      names: expect.arrayContaining([refusedName]),
    });
  }
});

test('returns 404 for an installation under the path of another integration', async () => {
  const rest = await createRestInstallation(app);
  const { id } = rest.installation;
  const foreignPath = `${rest.base}/integrations/none/installations/${id}`;
  for (const path of [`${foreignPath}:pause`, `${foreignPath}:unpause`]) {
    expect(await rest.expectRefusal('POST', path)).toMatchObject({ status: 404 });
  }
  expect(await rest.expectRefusal('DELETE', foreignPath)).toMatchObject({ status: 404 });
});
