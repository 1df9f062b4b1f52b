import { afterAll, expect, test } from 'vitest';
import { requestTokens } from '../../../../../src/domain/connections/connection/token/token-endpoint.ts';
import { UnstoredTokens } from '../../../../../src/domain/connections/connection/token/unstored-tokens.ts';
import { createProviderAccess } from '../../../../../src/domain/connections/provider/provider-access.ts';
import { createLog } from '../../../../../src/kernel/log.ts';
import { NO_METERS } from '../../../../../src/kernel/meters.ts';
import { createOutbound } from '../../../../../src/outbound/client.ts';
import { createSandboxProvider } from '../../../../../src/providers/sandbox/sandbox-provider.ts';
import {
  type ServedResponse,
  startProviderServer,
} from '../../../../support/providers/provider-server.ts';
import { getDeclaration } from '../../../../support/wire/declarations.ts';

let nextResponse: ServedResponse = { status: 200 };
const server = await startProviderServer(() => nextResponse);
const outbound = createOutbound({
  allowedPrivateTargets: ['127.0.0.0/8'],
  alwaysAllowedOrigins: () => [],
});
afterAll(async () => {
  await outbound[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const NOW = new Date('2026-01-01T00:00:00Z');
const client = { id: 'the id', secret: 'the:secret' };
const form = { grant_type: 'refresh_token', refresh_token: 'the-refresh-token' };
const { oauth2: _oauth2, ...sandbox } = createSandboxProvider(() => server.url);

function requestToken(oauth2: object = {}) {
  const provider = { ...sandbox, oauth2: { tokenUrl: `${server.url}/token`, ...oauth2 } };
  const account = { providerWorkspaceRef: null, providerMetadata: null };
  const services = {
    providerAccess: createProviderAccess({
      outbound,
      observer: null,
      unstoredTokens: new UnstoredTokens(createLog('silent')),
    }),
    now: () => NOW,
    meters: NO_METERS,
  };
  return requestTokens(services, { provider, account, client, form });
}

test('authenticates a client in the body or with Basic authentication', async () => {
  nextResponse = { status: 200, body: { access_token: 'a' } };
  await requestToken();
  expect(server.requests.at(-1)).toMatchObject({
    method: 'POST',
    path: '/token',
    body: { ...form, client_id: 'the id', client_secret: 'the:secret' },
  });
  await requestToken({ clientAuthentication: 'basic' });
  const { headers, body } = server.requests.at(-1) ?? {};
  expect(body).toEqual(form);
  const proof = Buffer.from('the+id:the%3Asecret').toString('base64');
  expect(headers?.authorization).toBe(`Basic ${proof}`);
});

test.each<[object, object, object]>([
  [
    { access_token: 'a', refresh_token: 'r', expires_in: 60, scope: 'one two' },
    {},
    { refreshToken: 'r', scopes: ['one', 'two'], expiresAt: '2026-01-01T00:01:00.000Z' },
  ],
  [
    { access_token: 'a', expires_in: '120', scope: 'one,two' },
    {},
    { scopes: ['one', 'two'], expiresAt: '2026-01-01T00:02:00.000Z' },
  ],
  [{ access_token: 'a', refresh_token: null, expires_in: null }, {}, {}],
  [
    { access_token: 'a', granted: { scopes: ['x'] } },
    { defaultLifetimeSeconds: 3_600, tokenFields: { scopes: 'granted.scopes' } },
    { scopes: ['x'], expiresAt: '2026-01-01T01:00:00.000Z' },
  ],
])('reads the token response %j with the declaration %j', async (body, declaration, expected) => {
  nextResponse = { status: 200, body };
  const { accessToken, refreshToken, scopes } = await requestToken(declaration);
  expect(accessToken).toMatchObject({ token: 'a', issuedAt: NOW.toISOString() });
  const { expiresAt } = accessToken;
  expect({ refreshToken, scopes, expiresAt }).toEqual({
    refreshToken: undefined,
    scopes: undefined,
    expiresAt: undefined,
    ...expected,
  });
});

test.each<[number, unknown, string]>([
  [
    400,
    { error: 'invalid_grant', error_description: 'the-refresh-token is used' },
    'AUTH_INVALIDATED',
  ],
  [401, { error: 'invalid_client' }, 'AUTH_INVALIDATED'],
  [403, { error: 'unauthorized_client' }, 'AUTH_INVALIDATED'],
  [401, '<h1>No</h1>', 'AUTH_INVALIDATED'],
  [400, { error: 'access_denied' }, 'AUTH_INVALIDATED'],
  [400, { status: 'BAD_REFRESH_TOKEN', message: 'invalid refresh token' }, 'BAD_REQUEST'],
  [401, { error: 'server_error', error_description: 'access_denied' }, 'RETRYABLE'],
  [400, { error: 'invalid_scope' }, 'BAD_REQUEST'],
  [404, 'nothing here', 'BAD_REQUEST'],
  [302, undefined, 'BAD_REQUEST'],
  [400, { error: 'temporarily_unavailable' }, 'RETRYABLE'],
  [500, { error: 'invalid_grant' }, 'RETRYABLE'],
  [503, undefined, 'RETRYABLE'],
  [429, { error: 'invalid_grant' }, 'RATE_LIMITED'],
  [200, { token_type: 'Bearer' }, 'RETRYABLE'],
  [200, 'not json', 'RETRYABLE'],
  [200, [], 'RETRYABLE'],
])('maps a response with status %i and body %j to %s', async (status, body, kind) => {
  nextResponse = { status, body };
  const error = await requestToken().catch((reason) => reason);
  expect(error).toMatchObject({ name: 'ProviderError', kind, isOutcomeUnknown: false });
  expect(error.message).toMatch(/^The token endpoint of Sandbox CRM responded with/);
  expect(error.message).not.toMatch(/the-refresh-token|the:secret/);
});

test.each<[number, object, string]>([
  [400, { status: 'BAD_REFRESH_TOKEN', message: 'invalid refresh token' }, 'AUTH_INVALIDATED'],
  [400, { status: 'BAD_REFRESH_TOKEN', error: 'invalid_request' }, 'AUTH_INVALIDATED'],
  [200, { ok: false, error: 'bad_refresh_token' }, 'AUTH_INVALIDATED'],
  [401, { error: 'server_error', error_description: 'Access_Denied' }, 'AUTH_INVALIDATED'],
  [401, { error: 'server_error', error_description: 'other' }, 'RETRYABLE'],
  [400, { error: 'server_error', error_description: 'access_denied' }, 'RETRYABLE'],
  [400, { error: 'access_denied' }, 'RATE_LIMITED'],
  [500, { error: 'bad_refresh_token' }, 'RETRYABLE'],
])('maps a response with status %i and the declared error %j to %s', async (status, body, kind) => {
  nextResponse = { status, body };
  const tokenErrors = [
    { code: 'bad_refresh_token', kind: 'AUTH_INVALIDATED' },
    { status: 401, code: 'server_error', description: 'access_denied', kind: 'AUTH_INVALIDATED' },
    { code: 'access_denied', kind: 'RATE_LIMITED' },
  ];
  await expect(requestToken({ tokenErrors })).rejects.toMatchObject({ kind });
});

const ZOHO_RATE_LIMIT = {
  error_description:
    'You have made too many requests continuously. Please try again after some time.',
  error: 'Access Denied',
  status: 'failure',
};

test.each<[number, object, string]>([
  [400, ZOHO_RATE_LIMIT, 'RATE_LIMITED'],
  [200, ZOHO_RATE_LIMIT, 'RATE_LIMITED'],
  [200, { ...ZOHO_RATE_LIMIT, error: 'Zugriff verweigert' }, 'RATE_LIMITED'],
  [200, { error: 'invalid_code', status: 'failure' }, 'AUTH_INVALIDATED'],
  [200, { error: 'invalid_client', status: 'failure' }, 'AUTH_INVALIDATED'],
])("maps Zoho's response with status %i and body %j to %s", async (status, body, kind) => {
  nextResponse = { status, body };
  const { tokenErrors } = getDeclaration('zoho').oauth2 ?? {};
  await expect(requestToken({ tokenErrors })).rejects.toMatchObject({ kind });
});

test('distinguishes an unreachable or forbidden endpoint from a rejection', async () => {
  server.failNext('DROPPED_CONNECTION');
  await expect(requestToken()).rejects.toMatchObject({
    kind: 'RETRYABLE',
    isOutcomeUnknown: false,
  });
  await expect(requestToken({ tokenUrl: 'http://10.0.0.1/token' })).rejects.toMatchObject({
    kind: 'BAD_REQUEST',
    message: expect.stringContaining('could not be reached'),
  });
  await expect(requestToken({ tokenUrl: 'https://{{workspace}}.crm.test' })).rejects.toThrow(
    /providerWorkspaceRef/,
  );
});
