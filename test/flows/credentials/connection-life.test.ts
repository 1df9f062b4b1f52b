/**
 * The life of a connection with rotating refresh tokens, over 40 days of a moved clock.
 * @module-tag all/walk
 */
import { afterAll, expect, test } from 'vitest';
import { openProviderSessionOf } from '../../../src/domain/connections/connection/connection-session.ts';
import { tokenRefreshes } from '../../../src/domain/connections/connection/token/refresh-due-token.ts';
import { createCatalogProvider } from '../../../src/providers/catalog/catalog-entry.ts';
import { HOUR_MS } from '../../../src/work/durations.ts';
import { getSharedApp } from '../../support/app.ts';
import { generateConnection, recordEvents } from '../../support/fixtures/connections.ts';
import { createAheadClock } from '../../support/process/ahead-clock.ts';
import { createProviderApp, getConnection } from '../../support/providers/oauth.ts';
import {
  type ServedResponse,
  startProviderServer,
} from '../../support/providers/provider-server.ts';
import { runDueRows } from '../../support/work/due-work.ts';

const DAYS = 40;
/** The lifetime of an access token. */
const LIFETIME_MS = 8 * HOUR_MS;
const clock = createAheadClock();

/** An account whose provider rotates refresh tokens. A token that is used twice revokes the grant. */
const account = { issued: 0, expireTimeMs: 0, isDown: false, isRevoked: false };

function serveToken(refreshToken: string): ServedResponse {
  if (account.isDown) return { status: 503 };
  if (refreshToken !== `refresh ${account.issued}`) account.isRevoked = true;
  if (account.isRevoked) return { status: 400, body: { error: 'invalid_grant' } };
  account.issued += 1;
  account.expireTimeMs = clock.aheadMs + LIFETIME_MS;
  const tokens = { access_token: `access ${account.issued}`, expires_in: LIFETIME_MS / 1_000 };
  return { status: 200, body: { ...tokens, refresh_token: `refresh ${account.issued}` } };
}

const server = await startProviderServer(({ path, headers, body }) => {
  if (path === '/token') return serveToken((body as { refresh_token: string }).refresh_token);
  const isValid =
    headers.authorization === `Bearer access ${account.issued}` &&
    !account.isRevoked &&
    clock.aheadMs < account.expireTimeMs;
  if (!isValid) return { status: 401 };
  return path === '/records' || path === '/me'
    ? { status: 200, body: {} }
    : { status: 401, body: { message: 'The token lacks a scope.' } };
});
afterAll(() => server[Symbol.asyncDispose]());

const app = await getSharedApp({
  providers: [
    createCatalogProvider({
      name: 'rotating',
      displayName: 'Rotating CRM',
      baseUrl: server.url,
      authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
      oauth2: { authorizeUrl: `${server.url}/authorize`, tokenUrl: `${server.url}/token` },
      healthCheck: '/me',
    }),
  ],
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  now: clock.now,
});
const { services } = app.app;

test('stays connected for 40 days with outages, and ends BAD_CREDENTIALS once the grant is revoked', async () => {
  const tenant = await app.createTenant();
  await createProviderApp(tenant, { provider: 'rotating' });
  const { id } = await generateConnection(tenant, {
    provider: 'rotating',
    oauth2AuthorizationCode: {
      accessToken: { token: 'access 0', expireTime: services.now() },
      refreshToken: { token: 'refresh 0' },
    },
  });
  const listEvents = await recordEvents(app, tenant);
  const countErrors = async () =>
    (await listEvents()).filter(({ eventType }) => eventType === 'CONNECTION_ERROR').length;
  const send = async (path: string) => {
    const session = await openProviderSessionOf(services, await getConnection(app, id));
    const { status } = await session.send({ method: 'GET', path });
    return status;
  };
  const call = (path: string) => send(path).catch(({ kind }) => kind);

  let failedCalls = 0;
  for (let hour = 0; hour < DAYS * 24; hour += 2) {
    // The token endpoint fails for 14 hours of each tenth day, so that tokens expire.
    account.isDown = hour % 240 >= 100 && hour % 240 < 114;
    clock.aheadMs += 2 * HOUR_MS;
    await runDueRows(services, tokenRefreshes);
    if (hour % 14 !== 0 && !account.isDown) continue;
    const isUp = clock.aheadMs < account.expireTimeMs || !account.isDown;
    expect([hour, await call('/records')]).toEqual([hour, isUp ? 200 : 'RETRYABLE']);
    if (!isUp) failedCalls += 1;
    // The provider responds with 401 to a request that needs another scope.
    if (isUp) expect([401, 'RETRYABLE']).toContain(await call('/settings'));
    const { status } = await getConnection(app, id);
    expect([hour, status]).not.toEqual([hour, 'BAD_CREDENTIALS']);
  }
  expect(await call('/records')).toBe(200);
  expect((await getConnection(app, id)).status).toBe('WORKING');
  expect(failedCalls).toBeGreaterThan(4);
  expect(account.issued).toBeGreaterThan(DAYS * 2);
  expect(await countErrors()).toBe(0);

  account.isRevoked = true;
  account.isDown = true;
  expect(await call('/records')).toBe('RETRYABLE');
  expect((await getConnection(app, id)).status).not.toBe('BAD_CREDENTIALS');
  account.isDown = false;
  expect(await call('/records')).toBe('AUTH_INVALIDATED');
  for (let hour = 0; hour < 48; hour += 1) {
    await runDueRows(services, tokenRefreshes);
    await call('/records');
    expect((await getConnection(app, id)).status).toBe('BAD_CREDENTIALS');
    clock.aheadMs += HOUR_MS;
  }
  expect(await countErrors()).toBe(1);
});
