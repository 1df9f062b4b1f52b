/**
 * A 401 means rejected credentials only if the provider's health check agrees: a request may also lack a scope. Without a
 * health check, only requests of the gateway count.
 */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { openProviderSessionOf } from '../../../src/domain/connections/connection/connection-session.ts';
import type { Provider } from '../../../src/providers/contract.ts';
import { createDeclarativeProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import { createMask } from '../../../src/work/secret-mask.ts';
import { getSharedApp } from '../../support/app.ts';
import { generateConnection, recordEvents } from '../../support/fixtures/connections.ts';
import { createProviderApp, getConnection } from '../../support/providers/oauth.ts';
import {
  type ServedResponse,
  startProviderServer,
} from '../../support/providers/provider-server.ts';
import { getDeclaration } from '../../support/wire/declarations.ts';

const SCOPE_ERROR = { code: 401, message: 'Unauthorized; scope does not match' };
const REJECTION: ServedResponse = { status: 401, body: { message: 'Unauthorized' } };
/** The responses by path. Other paths have a 404. */
const responses: Record<string, ServedResponse> = {};
const server = await startProviderServer(({ path }) => responses[path] ?? { status: 404 });
afterAll(() => server[Symbol.asyncDispose]());

const declaration = getDeclaration('atlassian');
const { limits, features } = createDeclarativeProvider(declaration);
const SITE_URL = `${server.url}/ex/jira/site/rest/api`;
const SITE_PATH = '/ex/jira/site/rest/api';
const CHECK_PATH = '/oauth/token/accessible-resources';
const jira = {
  ...createDeclarativeProvider({
    ...declaration,
    baseUrl: SITE_URL,
    modules: [{ name: 'jira', displayName: 'Jira', baseUrl: SITE_URL }],
    oauth2: { authorizeUrl: `${server.url}/authorize`, tokenUrl: `${server.url}/oauth/token` },
    healthCheck: `${server.url}${CHECK_PATH}`,
  }),
};
const unchecked: Provider = {
  name: 'unchecked',
  displayName: 'Unchecked CRM',
  baseUrl: SITE_URL,
  authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
  oauth2: { authorizeUrl: `${server.url}/authorize`, tokenUrl: `${server.url}/oauth/token` },
  limits: { ...limits, concurrency: 1 },
  features,
  capabilities: { proxy: true },
};
const app = await getSharedApp({
  providers: [jira, unchecked],
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
});

beforeEach(() => {
  server.reset();
  for (const path of Object.keys(responses)) delete responses[path];
  responses['/oauth/token'] = {
    status: 200,
    body: { access_token: 'new', refresh_token: 'rotated', expires_in: 3_600 },
  };
});

async function connect(provider: string, { isRefreshable = true } = {}) {
  const tenant = await app.createTenant();
  await createProviderApp(tenant, { provider, scopes: ['offline_access'] });
  const { id } = await generateConnection(tenant, {
    provider,
    providerWorkspaceRef: 'acme',
    oauth2AuthorizationCode: {
      accessToken: { token: 'old' },
      ...(isRefreshable && { refreshToken: { token: 'refresh' } }),
    },
  });
  const listEvents = await recordEvents(app, tenant);
  const session = await openProviderSessionOf(app.app.services, await getConnection(app, id));
  return {
    read: async (path: string) => (await session.send({ method: 'GET', path })).status,
    async forward(target: string) {
      const request = { method: 'GET', target, headers: {}, body: null };
      const response = await session.forward({ ...request, signal: new AbortController().signal });
      response.body.resume();
      await response.closed;
      return response.status;
    },
    readExpireTime: async () => (await getConnection(app, id)).tokenExpireTime,
    readStatus: async () => (await getConnection(app, id)).status,
    listErrors: async () =>
      (await listEvents()).filter(({ eventType }) => eventType === 'CONNECTION_ERROR'),
  };
}

function countRequests(path: string) {
  return server.requests.filter((request) => request.path === path).length;
}

test.each([
  true,
  false,
])('keeps a connection WORKING after forwarded requests outside its scopes (refreshable: %s)', async (isRefreshable) => {
  responses[`${SITE_PATH}/3/workflow`] = { status: 401, body: SCOPE_ERROR };
  responses[CHECK_PATH] = { status: 200, body: [] };
  const connection = await connect('atlassian', { isRefreshable });
  for (let call = 0; call < 3; call += 1) {
    expect(await connection.forward('/3/workflow')).toBe(401);
    expect(await connection.readStatus()).toBe('WORKING');
  }
  expect(countRequests('/oauth/token')).toBe(isRefreshable ? 1 : 0);
  expect(await connection.listErrors()).toEqual([]);
});

test('sets BAD_CREDENTIALS with one event if the health check rejects the refreshed token', async () => {
  for (const path of [`${SITE_PATH}/3/workflow`, CHECK_PATH]) responses[path] = REJECTION;
  const connection = await connect('atlassian');
  for (let call = 0; call < 3; call += 1) {
    expect(await connection.forward('/3/workflow')).toBe(401);
  }
  expect(await connection.readStatus()).toBe('BAD_CREDENTIALS');
  expect(await connection.listErrors()).toHaveLength(1);
});

test('recovers from an outage in which the provider rejects valid tokens', async () => {
  for (const path of [`${SITE_PATH}/3/field`, CHECK_PATH]) responses[path] = REJECTION;
  const connection = await connect('atlassian');
  expect(await connection.read('/3/field')).toBe(401);
  expect(await connection.readStatus()).toBe('BAD_CREDENTIALS');
  expect(await connection.readExpireTime()).not.toBeNull();
  expect(await connection.read('/3/field')).toBe(401);
  responses[`${SITE_PATH}/3/field`] = { status: 200, body: [] };
  expect(await connection.read('/3/field')).toBe(200);
  expect(await connection.readStatus()).toBe('WORKING');
  expect(await connection.listErrors()).toHaveLength(1);
});

test('refreshes the token of a connection that became BAD_CREDENTIALS by a request, until a refresh is rejected', async () => {
  for (const path of [`${SITE_PATH}/3/field`, CHECK_PATH]) responses[path] = REJECTION;
  responses['/oauth/token'] = { status: 400, body: { error: 'unsupported_response' } };
  const connection = await connect('atlassian');
  await expect(connection.read('/3/field')).rejects.toThrow('unsupported_response');
  expect(await connection.readStatus()).toBe('BAD_CREDENTIALS');
  responses['/oauth/token'] = { status: 400, body: { error: 'invalid_grant' } };
  await expect(connection.read('/3/field')).rejects.toThrow('invalid_grant');
  responses[`${SITE_PATH}/3/field`] = { status: 200, body: [] };
  expect(await connection.read('/3/field')).toBe(200);
  expect(await connection.readStatus()).toBe('BAD_CREDENTIALS');
  expect(await connection.readExpireTime()).toBeNull();
  expect(await connection.listErrors()).toHaveLength(1);
});

test('keeps the status if the health check fails', async () => {
  responses[`${SITE_PATH}/3/field`] = REJECTION;
  responses[CHECK_PATH] = { status: 503 };
  const connection = await connect('atlassian', { isRefreshable: false });
  expect(await connection.read('/3/field')).toBe(401);
  expect(await connection.readStatus()).toBe('CREATED');
});

test('neither refreshes nor checks a token after a declared response to a missing scope', async () => {
  responses[`${SITE_PATH}/3/field`] = { status: 401, body: SCOPE_ERROR };
  responses[CHECK_PATH] = REJECTION;
  const connection = await connect('atlassian');
  expect(await connection.read('/3/field')).toBe(401);
  expect(await connection.readStatus()).toBe('CREATED');
  expect(countRequests('/oauth/token')).toBe(0);
  expect(countRequests(CHECK_PATH)).toBe(0);
});

test('sets BAD_CREDENTIALS without a health check after a 401 to the gateway, and not to a client', async () => {
  responses[`${SITE_PATH}/things`] = REJECTION;
  const connection = await connect('unchecked');
  expect(await connection.forward('/things')).toBe(401);
  expect(await connection.readStatus()).toBe('CREATED');
  expect(await connection.read('/things')).toBe(401);
  expect(await connection.readStatus()).toBe('BAD_CREDENTIALS');
  expect(await connection.listErrors()).toHaveLength(1);
});

test('stays BAD_CREDENTIALS after the refresh token was rejected, although the access token still works', async () => {
  responses[`${SITE_PATH}/3/workflow`] = { status: 401, body: SCOPE_ERROR };
  responses[`${SITE_PATH}/3/field`] = { status: 200, body: [] };
  responses['/oauth/token'] = { status: 400, body: { error: 'invalid_grant' } };
  const connection = await connect('atlassian');
  await expect(connection.forward('/3/workflow')).rejects.toThrow('invalid_grant');
  expect(await connection.read('/3/field')).toBe(200);
  expect(await connection.readStatus()).toBe('BAD_CREDENTIALS');
  expect(await connection.listErrors()).toHaveLength(1);
});

test.each([
  ['zoho', { code: 'OAUTH_SCOPE_MISMATCH' }, { code: 'INVALID_TOKEN' }],
  ['xero', { Detail: 'AuthorizationUnsuccessful' }, { Detail: 'TokenExpired' }],
  ['atlassian', SCOPE_ERROR, REJECTION.body],
])('%s distinguishes a missing scope from a rejected token', (name, scopeError, rejection) => {
  const { rejectsCredentials } = createDeclarativeProvider(getDeclaration(name));
  const response = { status: 401, headers: {}, mask: createMask([]) };
  expect(rejectsCredentials?.({ ...response, body: scopeError })).toBe(false);
  expect(rejectsCredentials?.({ ...response, body: rejection })).toBe(true);
});

test('Linear rejects a token in a response with status 200', () => {
  const { rejectsCredentials } = createDeclarativeProvider(getDeclaration('linear'));
  const errors = [{ extensions: { code: 'AUTHENTICATION_ERROR' } }];
  const response = { status: 200, headers: {}, mask: createMask([]) };
  expect(rejectsCredentials?.({ ...response, body: { errors } })).toBe(true);
  expect(rejectsCredentials?.({ ...response, body: { data: {} } })).toBe(false);
});
