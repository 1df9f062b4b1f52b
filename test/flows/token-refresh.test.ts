import { expect, test } from 'vitest';
import { openProviderSessionOf } from '../../src/domain/connections/connection/connection-session.ts';
import { createSandboxProvider } from '../../src/providers/sandbox/sandbox-provider.ts';
import { createTestApp, getSharedApp, keepOpen, onPostgres } from '../support/app.ts';
import { recordStatements } from '../support/database/statements.ts';
import { generateConnection, recordEvents } from '../support/fixtures/connections.ts';
import {
  CLIENT,
  callSandbox,
  connectWithTokens,
  getConnection,
  readStoredCredentials,
} from '../support/providers/oauth.ts';

const ENCRYPTION_KEY = Buffer.alloc(32, 9).toString('base64');
const clock = { aheadMs: 0 };
const app = await getSharedApp({
  env: { ENCRYPTION_KEY },
  now: () => new Date(Date.now() + clock.aheadMs),
});
const { sandbox, services } = app.app;

/** Returns a function that counts the tokens, refreshes and refused reuses since this call. */
function startCounting() {
  const countsBefore = { ...sandbox.oauth.counts };
  return () => {
    const { issued, refreshed, reuseRefused } = sandbox.oauth.counts;
    return {
      issued: issued - countsBefore.issued,
      refreshed: refreshed - countsBefore.refreshed,
      reuseRefused: reuseRefused - countsBefore.reuseRefused,
    };
  };
}

test('refreshes an expired token once for 50 concurrent calls', async () => {
  const tenant = await app.createTenant();
  const connection = await connectWithTokens(app, tenant);
  const listEvents = await recordEvents(app, tenant);
  const countRequests = startCounting();
  const responses = await Promise.all(
    Array.from({ length: 50 }, () => callSandbox(app, connection)),
  );
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  expect(countRequests()).toEqual({ issued: 1, refreshed: 1, reuseRefused: 0 });
  expect(await listEvents()).toMatchObject([
    { eventType: 'CONNECTION_REFRESHED', connectionId: connection.id },
  ]);
  expect(await getConnection(app, connection.id)).toMatchObject({
    status: 'WORKING',
    refreshLeaseToken: null,
    tokenExpireTime: expect.any(Date),
  });
});

test('stores a refreshed token and its event in one statement, without a transaction', async () => {
  const connection = await connectWithTokens(app, await app.createTenant());
  const { result, statements } = await recordStatements(() => callSandbox(app, connection));
  expect(result.status).toBe(200);
  const verbs = statements
    // Requests are stored in the background.
    .filter(({ text }) => !text.includes('"RecordedRequest"'))
    .map(({ text }) => text.trim().split(/\s/)[0]?.toLowerCase());
  // PostgreSQL stores a lease first. Then the token and the status `WORKING` are stored.
  const lease = onPostgres ? ['update'] : [];
  expect(verbs.filter((verb) => verb !== 'select')).toEqual([...lease, 'with', 'update']);
  expect(verbs.filter((verb) => verb === 'select')).toHaveLength(5);
});

test('refreshes a rejected token once for 50 concurrent calls, and repeats each call once', async () => {
  const connection = await connectWithTokens(app, await app.createTenant(), {
    accessToken: 'revoked',
    expiresAt: null,
  });
  const countRequests = startCounting();
  const responses = await Promise.all(
    Array.from({ length: 50 }, () => callSandbox(app, connection)),
  );
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  expect(countRequests()).toEqual({ issued: 1, refreshed: 1, reuseRefused: 0 });
});

test('refreshes a token once on two servers of one database', async () => {
  const { database } = services;
  await using otherApp = await createTestApp({
    env: { ENCRYPTION_KEY, ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
    database: keepOpen(database),
    providers: [createSandboxProvider(() => sandbox.url)],
    now: services.now,
  });
  const connection = await connectWithTokens(app, await app.createTenant());
  const countRequests = startCounting();
  const responses = await Promise.all(
    Array.from({ length: 50 }, (_, index) => callSandbox(index % 2 ? app : otherApp, connection)),
  );
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  expect(countRequests()).toEqual({ issued: 1, refreshed: 1, reuseRefused: 0 });
});

test('uses each rotating refresh token once', async () => {
  const connection = await connectWithTokens(app, await app.createTenant());
  const countRequests = startCounting();
  for (let call = 0; call < 3; call += 1) {
    expect((await callSandbox(app, connection)).status).toBe(200);
    clock.aheadMs += 2 * 60 * 60_000;
  }
  expect(countRequests()).toEqual({ issued: 3, refreshed: 3, reuseRefused: 0 });
});

test('uses a token until shortly before it expires, and then replaces it', async () => {
  const connection = await connectWithTokens(app, await app.createTenant());
  await callSandbox(app, connection);
  const countRequests = startCounting();
  clock.aheadMs += (60 * 60 - 70) * 1_000;
  await callSandbox(app, connection);
  expect(countRequests().refreshed).toBe(0);
  clock.aheadMs += 15_000;
  await callSandbox(app, connection);
  expect(countRequests().refreshed).toBe(1);
});

test('uses the tokens that another session refreshed', async () => {
  const connection = await connectWithTokens(app, await app.createTenant());
  const session = await openProviderSessionOf(services, connection);
  const request = { method: 'GET', path: '/objects' } as const;
  expect((await session.send(request)).status).toBe(200);
  clock.aheadMs += 2 * 60 * 60_000;
  const countRequests = startCounting();
  await callSandbox(app, connection);
  expect((await session.send(request)).status).toBe(200);
  expect(countRequests()).toEqual({ issued: 1, refreshed: 1, reuseRefused: 0 });
});

test.each([
  ['OAUTH2_CLIENT_CREDENTIALS', { oauth2ClientCredentials: CLIENT }],
  [
    'OAUTH2_PASSWORD',
    { oauth2PasswordCredentials: { ...CLIENT, username: 'u', password: 'sandbox-password' } },
  ],
])('%s: requests one token for concurrent first calls with unchecked credentials', async (authScheme, credentials) => {
  const tenant = await app.createTenant();
  const { id } = await generateConnection(tenant, { ...credentials, skipCheck: true });
  const listEvents = await recordEvents(app, tenant);
  const connection = await getConnection(app, id);
  expect(connection).toMatchObject({ authScheme, status: 'CREATED' });
  const countRequests = startCounting();
  await Promise.all(Array.from({ length: 20 }, () => callSandbox(app, connection)));
  expect(countRequests()).toEqual({ issued: 1, refreshed: 0, reuseRefused: 0 });
  expect(await listEvents()).toEqual([]);
  expect((await getConnection(app, id)).status).toBe('WORKING');

  clock.aheadMs += 2 * 60 * 60_000;
  await callSandbox(app, connection);
  expect(countRequests().issued).toBe(2);
  expect(await listEvents()).toMatchObject([{ eventType: 'CONNECTION_REFRESHED' }]);
});

test('writes a record once if the first request was rejected with an old token', async () => {
  const connection = await connectWithTokens(app, await app.createTenant(), {
    accessToken: 'revoked',
    expiresAt: null,
  });
  const countBefore = sandbox.listRecords('companies').length;
  const body = { record: { name: 'Once' } };
  const path = '/objects/companies/records';
  const response = await (await openProviderSessionOf(services, connection)).send({
    method: 'POST',
    path,
    body,
  });
  expect(response.status).toBe(201);
  expect(sandbox.listRecords('companies').length).toBe(countBefore + 1);
});

test('sets the connection to BAD_CREDENTIALS after a refused refresh, with one event', async () => {
  const tenant = await app.createTenant();
  const connection = await connectWithTokens(app, tenant, { refreshToken: 'sbx_rt_unknown' });
  const listEvents = await recordEvents(app, tenant);
  for (let call = 0; call < 2; call += 1) {
    const error = await callSandbox(app, connection).catch((reason) => reason);
    expect(error).toMatchObject({ name: 'ProviderError', kind: 'AUTH_INVALIDATED' });
    expect(error.message).toContain('invalid_grant');
    expect(error.message).not.toContain('sbx_rt_unknown');
  }
  expect(await getConnection(app, connection.id)).toMatchObject({
    status: 'BAD_CREDENTIALS',
    tokenExpireTime: null,
    refreshLeaseToken: null,
  });
  expect(await listEvents()).toMatchObject([
    {
      eventType: 'CONNECTION_ERROR',
      connectionId: connection.id,
      data: { groupRef: 'acme', errors: [expect.stringContaining('invalid_grant')] },
    },
  ]);
});

test.each([
  ['500', { status: 500 }, 'RETRYABLE'],
  ['503', { status: 503 }, 'RETRYABLE'],
  ['429', { status: 429, retryAfterSeconds: 7 }, 'RATE_LIMITED'],
  ['a dropped connection', { drop: 'before' as const }, 'RETRYABLE'],
])('keeps the connection if the token endpoint fails with %s', async (_name, fault, kind) => {
  const tenant = await app.createTenant();
  const connection = await connectWithTokens(app, tenant);
  const listEvents = await recordEvents(app, tenant);
  sandbox.faults.set({ pathPrefix: '/oauth/token', ...fault });
  const error = await callSandbox(app, connection).catch((reason) => reason);
  expect(error).toMatchObject({ kind, isTemporary: true, isOutcomeUnknown: false });
  expect((await getConnection(app, connection.id)).status).toBe('CREATED');
  expect(await listEvents()).toEqual([]);
  expect((await callSandbox(app, connection)).status).toBe(200);
});

test('uses a valid token if a refresh fails temporarily', async () => {
  const connection = await connectWithTokens(app, await app.createTenant(), {
    expiresAt: new Date(services.now().getTime() + 30_000),
  });
  sandbox.faults.set({ pathPrefix: '/oauth/token', status: 500 });
  expect((await callSandbox(app, connection)).status).toBe(200);
});

test('sets the connection to BAD_CREDENTIALS if its API key is rejected, until the key is replaced', async () => {
  const tenant = await app.createTenant();
  const listEvents = await recordEvents(app, tenant);
  const { id } = await generateConnection(tenant, { apiKey: 'wrong', skipCheck: true });
  const connection = await getConnection(app, id);
  for (let call = 0; call < 2; call += 1) {
    expect((await callSandbox(app, connection)).status).toBe(401);
  }
  expect((await getConnection(app, id)).status).toBe('BAD_CREDENTIALS');
  await generateConnection(tenant, { apiKey: 'sandbox-key' });
  expect((await getConnection(app, id)).status).toBe('CREATED');
  expect((await callSandbox(app, connection)).status).toBe(200);
  expect((await getConnection(app, id)).status).toBe('WORKING');
  expect((await listEvents()).map(({ eventType }) => eventType)).toEqual([
    'CONNECTION_CREATED',
    'CONNECTION_ERROR',
    'CONNECTION_UPDATED',
  ]);
});

test('continues an open session with a replaced key', async () => {
  const tenant = await app.createTenant();
  const { id } = await generateConnection(tenant, { apiKey: 'wrong', skipCheck: true });
  const session = await openProviderSessionOf(services, await getConnection(app, id));
  expect((await session.send({ method: 'GET', path: '/objects' })).status).toBe(401);
  await generateConnection(tenant, { apiKey: 'sandbox-key' });
  expect((await session.send({ method: 'GET', path: '/objects' })).status).toBe(200);
});

test('uses an access token without a refresh token until it is rejected', async () => {
  const tenant = await app.createTenant();
  const connection = await connectWithTokens(app, tenant, { refreshToken: null });
  // The token has expired by the gateway's clock, and the sandbox still accepts it.
  expect((await callSandbox(app, connection)).status).toBe(200);
  const rejectedConnection = await connectWithTokens(app, tenant, {
    accessToken: 'revoked',
    refreshToken: null,
  });
  expect((await callSandbox(app, rejectedConnection)).status).toBe(401);
  expect((await getConnection(app, rejectedConnection.id)).status).toBe('BAD_CREDENTIALS');
});

test('keeps credentials that are replaced during a refresh', async () => {
  const tenant = await app.createTenant();
  const connection = await connectWithTokens(app, tenant);
  const { promise: requested, resolve } = Promise.withResolvers<void>();
  const { refresh } = sandbox.oauth;
  sandbox.oauth.refresh = function (...args) {
    sandbox.oauth.refresh = refresh;
    resolve();
    return refresh.apply(this, args);
  };
  sandbox.faults.set({ pathPrefix: '/oauth/token', delayMs: 500 });
  const pendingCall = callSandbox(app, connection);
  await requested;
  await generateConnection(tenant, { apiKey: 'sandbox-key' });
  expect((await pendingCall).status).toBe(200);
  expect(await readStoredCredentials(app, connection)).toMatchObject({ apiKey: 'sandbox-key' });
  expect((await getConnection(app, connection.id)).authScheme).toBe('API_KEY');
});
