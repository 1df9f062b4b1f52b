import { expect, onTestFinished, test } from 'vitest';
import { tokenRefreshes } from '../../src/domain/connections/connection/token/refresh-due-token.ts';
import { runWork } from '../../src/jobs/run-work.ts';
import { ServiceUnavailable } from '../../src/kernel/errors.ts';
import { createLog } from '../../src/kernel/log.ts';
import { createSandboxProvider } from '../../src/providers/sandbox/sandbox-provider.ts';
import {
  createTestApp,
  getSharedApp,
  keepOpen,
  type Tenant,
  type TestApp,
} from '../support/app.ts';
import { generateConnection, recordEvents } from '../support/fixtures/connections.ts';
import { CLIENT_ID, createProviderApp } from '../support/providers/oauth.ts';
import { claimDueRows, runAllDueRows, runDueRows } from '../support/work/due-work.ts';

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
  return runWork(services, { leased: [tokenRefreshes], upkeep: [] });
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

test('refreshes each expiring token once when two servers refresh at the same time', async () => {
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

test("sets BAD_CREDENTIALS with one event when a worker's refresh is rejected", async () => {
  const tenant = await createTenantWithApp();
  const listEvents = await recordEvents(app, tenant);
  const options = { groupRef: 'refused', expiresInMs: 60_000, refreshToken: 'sbx_rt_unknown' };
  const id = await connect(tenant, options);
  await runAllDueRows(services, tokenRefreshes);
  expect(await prisma.connection.findFirstOrThrow({ where: { id } })).toMatchObject({
    status: 'BAD_CREDENTIALS',
    tokenExpireTime: null,
    refreshDueTime: null,
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

/** Creates connections whose credentials cannot be decrypted. Their tokens expire first, so they are claimed first. */
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
  await runAllDueRows(services, tokenRefreshes);
  const expireTime = new Date(Date.now() + 120_000);
  expect(await prisma.connection.findFirstOrThrow({ where: { id } })).toMatchObject({
    tokenExpireTime: expect.toSatisfy((time: Date) => time > expireTime),
  });
  const waitingConnections = { id: { in: unreadableIds }, refreshDueTime: { gt: expireTime } };
  expect(await prisma.connection.count({ where: waitingConnections })).toBe(unreadableIds.length);
  const loggedFailures = lines
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === 'token.refresh_failed');
  expect(loggedFailures.map(({ connectionId }) => connectionId).toSorted()).toEqual(
    unreadableIds.toSorted(),
  );
  expect(loggedFailures[0].err.message).toContain('sealed with the key 00000000');
  await prisma.connection.deleteMany({ where: { id: { in: unreadableIds } } });
});

test('releases the connection without a delay if the database is not available', async () => {
  const tenant = await createTenantWithApp();
  const id = await connect(tenant, { groupRef: 'away', expiresInMs: 60_000 });
  const { refreshDueTime } = await prisma.connection.findFirstOrThrow({ where: { id } });
  const open = () => {
    throw new ServiceUnavailable('The database is not available.', {
      cause: null,
      retryAfterSeconds: 2,
    });
  };
  const failingServices = { ...services, vault: { ...services.vault, open } };
  const run = () => runDueRows(failingServices, tokenRefreshes, tenant);
  await expect(run()).rejects.toThrow('The database is not available.');
  expect(await prisma.connection.findFirstOrThrow({ where: { id } })).toMatchObject({
    refreshDueTime,
  });
});

test('releases the connection unchanged if the server stops before the refresh', async () => {
  const tenant = await createTenantWithApp();
  const id = await connect(tenant, { groupRef: 'waiting', expiresInMs: 60_000 });
  const connectionBefore = await prisma.connection.findFirstOrThrow({ where: { id } });
  const { projectId } = tenant;
  await runDueRows(services, tokenRefreshes, { projectId, signal: AbortSignal.abort() });
  expect(await prisma.connection.findFirstOrThrow({ where: { id } })).toEqual(connectionBefore);
});

test('refreshes a token when it becomes due, without a notification', async () => {
  const tenant = await createTenantWithApp();
  await using _refreshes = await startRefreshes(app);
  const id = await connect(tenant, { groupRef: 'soon', expiresInMs: 121_000 });
  const readExpiry = async () =>
    (await prisma.connection.findFirstOrThrow({ where: { id } })).tokenExpireTime?.getTime();
  await expect.poll(readExpiry, POLLING).toBeGreaterThan(Date.now() + HOUR_MS / 2);
});

test('refreshes the tokens of an app while those of another app hang', async () => {
  const hangingTenant = await createTenantWithApp();
  const tenant = await createTenantWithApp();
  for (let number = 0; number < 2 * tokenRefreshes.perShare; number += 1)
    await connect(hangingTenant, { groupRef: `hanging-${number}`, expiresInMs: 1_000 });
  const id = await connect(tenant, { groupRef: 'quick', expiresInMs: 60_000 });
  const hang = Promise.withResolvers<void>();
  const work: typeof tokenRefreshes = {
    ...tokenRefreshes,
    run: (runServices, row, signal) =>
      row.projectId === hangingTenant.projectId
        ? hang.promise
        : tokenRefreshes.run(runServices, row, signal),
  };
  await using _work = await runWork(services, { leased: [work], upkeep: [] });
  const readExpiry = async () =>
    (await prisma.connection.findFirstOrThrow({ where: { id } })).tokenExpireTime?.getTime();
  await expect.poll(readExpiry, POLLING).toBeGreaterThan(Date.now() + HOUR_MS / 2);
  hang.resolve();
});

test('schedules a token that was stored since, instead of refreshing it', async () => {
  const tenant = await createTenantWithApp();
  const id = await connect(tenant, { groupRef: 'stored', expiresInMs: HOUR_MS });
  const { refreshDueTime } = await prisma.connection.findFirstOrThrow({ where: { id } });
  // An older version stores a token without its due time.
  await prisma.connection.updateMany({ where: { id }, data: { refreshDueTime: new Date() } });
  const { refreshed } = sandbox.oauth.counts;
  await runDueRows(services, tokenRefreshes, tenant);
  expect(sandbox.oauth.counts.refreshed).toBe(refreshed);
  expect(await prisma.connection.findFirstOrThrow({ where: { id } })).toMatchObject({
    refreshDueTime,
    refreshLeaseToken: null,
  });
});

test('refuses the result of a worker whose lease another worker has', async () => {
  const tenant = await createTenantWithApp();
  const id = await connect(tenant, { groupRef: 'lost', expiresInMs: 60_000 });
  const [claim] = await claimDueRows(services, tokenRefreshes, tenant.projectId);
  const taken = {
    refreshLeaseToken: 'other',
    refreshLeaseExpireTime: new Date(Date.now() + HOUR_MS),
  };
  await prisma.connection.updateMany({ where: { id }, data: taken });
  const lostVault = {
    ...services.vault,
    open() {
      throw new Error('The credentials are not readable.');
    },
  };
  const { signal } = new AbortController();
  await tokenRefreshes.run({ ...services, vault: lostVault }, claim!, signal);
  expect(await prisma.connection.findFirstOrThrow({ where: { id } })).toMatchObject(taken);
});
