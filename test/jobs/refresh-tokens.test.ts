import { expect, onTestFinished, test } from 'vitest';
import { refreshDueTokens } from '../../src/domain/connections/connection/connection-refresh.ts';
import { runWork } from '../../src/jobs/run-work.ts';
import { ServiceUnavailable } from '../../src/kernel/errors.ts';
import { createLog } from '../../src/kernel/log.ts';
import { createSandboxProvider } from '../../src/providers/sandbox/sandbox-provider.ts';
import { tokenRefresh } from '../../src/start/start-work.ts';
import {
  createTestApp,
  getSharedApp,
  keepOpen,
  type Tenant,
  type TestApp,
} from '../support/app.ts';
import { generateConnection, recordEvents } from '../support/fixtures/connections.ts';
import { CLIENT_ID, createProviderApp } from '../support/providers/oauth.ts';

const env = { ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64') };
const lines: string[] = [];
const log = createLog('info', { write: (line) => void lines.push(line) });
const app = await getSharedApp({ env, log });
const { sandbox, services } = app.app;
const { prisma } = services.database;
const POLLING = { interval: 20 };
const HOUR_MS = 3_600_000;
const CONNECTION_COUNT = 12;

function startRefreshes({ app: { services } }: Pick<TestApp, 'app'>) {
  return runWork(services, { leased: [], upkeep: [tokenRefresh] });
}

/** Starts another server with the same database and provider. */
function startAnotherServer(): Promise<TestApp> {
  return createTestApp({
    env: { ...env, ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
    log,
    database: keepOpen(services.database),
    providers: [createSandboxProvider(() => sandbox.url)],
  });
}

interface ExpiringToken {
  groupRef: string;
  expiresInMs: number;
  refreshToken?: string;
}

async function connect(
  tenant: Tenant,
  { groupRef, expiresInMs, refreshToken }: ExpiringToken,
): Promise<string> {
  const grantedTokens = sandbox.oauth.issueToUser(CLIENT_ID, 'sandbox-user', '');
  const expireTime = new Date(Date.now() + expiresInMs);
  const { id } = await generateConnection(tenant, {
    groupRef,
    oauth2AuthorizationCode: {
      accessToken: { token: grantedTokens.access_token, expireTime },
      refreshToken: { token: refreshToken ?? grantedTokens.refresh_token },
    },
  });
  return id;
}

async function createTenantWithApp() {
  const tenant = await app.createTenant();
  await createProviderApp(tenant);
  return tenant;
}

test('refreshes each expiring token once when two servers sweep at the same time', async () => {
  const tenant = await createTenantWithApp();
  const dueIds: string[] = [];
  for (let number = 0; number < CONNECTION_COUNT; number += 1) {
    dueIds.push(await connect(tenant, { groupRef: `group-${number}`, expiresInMs: 60_000 }));
  }
  const laterId = await connect(tenant, { groupRef: 'later', expiresInMs: HOUR_MS });
  const connectionBefore = await prisma.connection.findFirstOrThrow({ where: { id: laterId } });
  const listEvents = await recordEvents(app, tenant);
  const { refreshed, reuseRefused } = sandbox.oauth.counts;
  // Refreshes take long enough for both servers to reach the same connections.
  sandbox.faults.set({ pathPrefix: '/oauth/token', delayMs: 20, times: 2 * CONNECTION_COUNT });
  onTestFinished(() => sandbox.faults.clear());
  {
    await using otherApp = await startAnotherServer();
    await using _here = await startRefreshes(app);
    await using _there = await startRefreshes(otherApp);
    const expireTime = new Date(Date.now() + HOUR_MS / 2);
    const countRemaining = () =>
      prisma.connection.count({
        where: { id: { in: dueIds }, tokenExpireTime: { lte: expireTime } },
      });
    await expect.poll(countRemaining, POLLING).toBe(0);
  }
  expect(sandbox.oauth.counts.refreshed - refreshed).toBe(CONNECTION_COUNT);
  expect(sandbox.oauth.counts.reuseRefused).toBe(reuseRefused);
  const recordedEvents = await listEvents();
  expect(new Set(recordedEvents.map(({ eventType }) => eventType))).toEqual(
    new Set(['CONNECTION_REFRESHED']),
  );
  expect(recordedEvents.map(({ connectionId }) => connectionId).toSorted()).toEqual(
    dueIds.toSorted(),
  );
  const connectionAfter = await prisma.connection.findFirstOrThrow({ where: { id: laterId } });
  expect(connectionAfter).toEqual(connectionBefore);
});

test("sets BAD_CREDENTIALS with one event when a sweep's refresh is rejected", async () => {
  const tenant = await createTenantWithApp();
  const listEvents = await recordEvents(app, tenant);
  const options = { groupRef: 'refused', expiresInMs: 60_000, refreshToken: 'sbx_rt_unknown' };
  const id = await connect(tenant, options);
  const { signal } = new AbortController();
  for (let sweep = 0; sweep < 2; sweep += 1) await tokenRefresh.run(services, signal);
  expect(await prisma.connection.findFirstOrThrow({ where: { id } })).toMatchObject({
    status: 'BAD_CREDENTIALS',
    tokenExpireTime: null,
    refreshLeaseToken: null,
  });
  expect(await listEvents()).toMatchObject([
    { eventType: 'CONNECTION_CREATED', connectionId: id },
    {
      eventType: 'CONNECTION_ERROR',
      connectionId: id,
      data: { errors: [expect.stringContaining('invalid_grant')] },
    },
  ]);
});

/** Creates connections whose credentials cannot be decrypted. Their tokens expire first, so a sweep begins with them. */
async function createUnreadableConnections(tenant: Tenant, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1) {
    ids.push(await connect(tenant, { groupRef: `unreadable-${number}`, expiresInMs: 1_000 }));
  }
  const credentialsSealed = 'v1.00000000.AAAA';
  await prisma.connection.updateMany({ where: { id: { in: ids } }, data: { credentialsSealed } });
  return ids;
}

test('postpones unreadable connections, and refreshes other connections', async () => {
  const tenant = await createTenantWithApp();
  const unreadableIds = await createUnreadableConnections(tenant, 8);
  const id = await connect(tenant, { groupRef: 'readable', expiresInMs: 60_000 });
  await tokenRefresh.run(services, new AbortController().signal);
  const expireTime = new Date(Date.now() + 120_000);
  expect(await prisma.connection.findFirstOrThrow({ where: { id } })).toMatchObject({
    tokenExpireTime: expect.toSatisfy((time: Date) => time > expireTime),
  });
  const waitingConnections = { id: { in: unreadableIds }, refreshRetryTime: { gt: expireTime } };
  expect(await prisma.connection.count({ where: waitingConnections })).toBe(unreadableIds.length);
  const loggedFailures = lines
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === 'token.not_refreshed');
  expect(loggedFailures.map(({ connectionId }) => connectionId).toSorted()).toEqual(
    unreadableIds.toSorted(),
  );
  expect(loggedFailures[0].err.message).toContain('sealed with the key 00000000');
  await prisma.connection.deleteMany({ where: { id: { in: unreadableIds } } });
});

test('ends the sweep if the database is not available, and postpones no connection', async () => {
  const tenant = await createTenantWithApp();
  const id = await connect(tenant, { groupRef: 'away', expiresInMs: 60_000 });
  const open = () => {
    throw new ServiceUnavailable('The database is not available.', {
      cause: null,
      retryAfterSeconds: 2,
    });
  };
  const failingServices = { ...services, vault: { ...services.vault, open } };
  await expect(refreshDueTokens(failingServices)).rejects.toThrow('The database is not available.');
  expect(await prisma.connection.findFirstOrThrow({ where: { id } })).toMatchObject({
    refreshRetryTime: null,
  });
});

test('refreshes no token while the server stops', async () => {
  const tenant = await createTenantWithApp();
  const id = await connect(tenant, { groupRef: 'waiting', expiresInMs: 60_000 });
  const connectionBefore = await prisma.connection.findFirstOrThrow({ where: { id } });
  await tokenRefresh.run(services, AbortSignal.abort());
  expect(await prisma.connection.findFirstOrThrow({ where: { id } })).toEqual(connectionBefore);
});
