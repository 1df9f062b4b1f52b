import { expect, onTestFinished, test } from 'vitest';
import { refreshDueTokens } from '../../src/domain/connection/connection-refresh.ts';
import { ServiceUnavailable } from '../../src/errors.ts';
import { startJobs } from '../../src/jobs/job-worker.ts';
import { refreshTokensSweep } from '../../src/jobs/sweeps.ts';
import { createLog } from '../../src/log.ts';
import { createSandboxProvider } from '../../src/providers/sandbox/sandbox-provider.ts';
import {
  createTestApp,
  getSharedApp,
  keepOpen,
  type Tenant,
  type TestApp,
} from '../support/app.ts';
import { generateConnection, keepEvents } from '../support/fixtures/connections.ts';
import { CLIENT_ID, createProviderApp } from '../support/providers/oauth.ts';

const env = { ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64') };
const lines: string[] = [];
const log = createLog('info', { write: (line) => void lines.push(line) });
const app = await getSharedApp({ env, log });
const { sandbox, services } = app.app;
const { prisma } = services.database;
const WAITING = { timeout: 20_000, interval: 20 };
const HOUR_MS = 3_600_000;
const CONNECTIONS = 12;

function startSweeping({ app: { services } }: Pick<TestApp, 'app'>) {
  return startJobs(services, { handlers: {}, sweeps: [refreshTokensSweep] });
}

/** Starts a second process that shares only the database and the provider with the first. */
function startAnotherServer(): Promise<TestApp> {
  return createTestApp({
    env: { ...env, ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
    log,
    database: keepOpen(services.database),
    providers: [createSandboxProvider(() => sandbox.url)],
  });
}

interface Expiring {
  groupRef: string;
  inMs: number;
  refreshToken?: string;
}

async function connect(tenant: Tenant, { groupRef, inMs, ...rest }: Expiring): Promise<string> {
  const granted = sandbox.oauth.issueToUser(CLIENT_ID, 'sandbox-user', '');
  const { refreshToken = granted.refresh_token } = rest;
  const expireTime = new Date(Date.now() + inMs);
  const { id } = await generateConnection(tenant, {
    groupRef,
    oauth2AuthorizationCode: {
      accessToken: { token: granted.access_token, expireTime },
      refreshToken: { token: refreshToken },
    },
  });
  return id;
}

async function createTenantWithApp() {
  const tenant = await app.tenant();
  await createProviderApp(tenant);
  return tenant;
}

test('refreshes each expiring token once when two servers sweep at the same time', async () => {
  const tenant = await createTenantWithApp();
  const due: string[] = [];
  for (let number = 0; number < CONNECTIONS; number += 1) {
    due.push(await connect(tenant, { groupRef: `group-${number}`, inMs: 60_000 }));
  }
  const later = await connect(tenant, { groupRef: 'later', inMs: HOUR_MS });
  const before = await prisma.connection.findFirstOrThrow({ where: { id: later } });
  const listEvents = await keepEvents(app, tenant);
  const { refreshed, reuseRefused } = sandbox.oauth.counts;
  // Refreshes take long enough for both servers to reach the same connections.
  sandbox.faults.set({ pathPrefix: '/oauth/token', delayMs: 20, times: 2 * CONNECTIONS });
  onTestFinished(() => sandbox.faults.clear());
  {
    await using other = await startAnotherServer();
    await using _here = await startSweeping(app);
    await using _there = await startSweeping(other);
    const expireTime = new Date(Date.now() + HOUR_MS / 2);
    const countRemaining = () =>
      prisma.connection.count({ where: { id: { in: due }, tokenExpireTime: { lte: expireTime } } });
    await expect.poll(countRemaining, WAITING).toBe(0);
  }
  expect(sandbox.oauth.counts.refreshed - refreshed).toBe(CONNECTIONS);
  expect(sandbox.oauth.counts.reuseRefused).toBe(reuseRefused);
  const recorded = await listEvents();
  expect(new Set(recorded.map(({ eventType }) => eventType))).toEqual(
    new Set(['CONNECTION_REFRESHED']),
  );
  expect(recorded.map(({ connectionId }) => connectionId).toSorted()).toEqual(due.toSorted());
  const after = await prisma.connection.findFirstOrThrow({ where: { id: later } });
  expect(after).toEqual(before);
});

test("sets BAD_CREDENTIALS with one event when a sweep's refresh is rejected", async () => {
  const tenant = await createTenantWithApp();
  const listEvents = await keepEvents(app, tenant);
  const options = { groupRef: 'refused', inMs: 60_000, refreshToken: 'sbx_rt_unknown' };
  const id = await connect(tenant, options);
  const { signal } = new AbortController();
  for (let sweep = 0; sweep < 2; sweep += 1) await refreshTokensSweep.run(services, signal);
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

/**
 * Creates connections whose credentials no key opens. They expire first, so that a sweep begins with them.
 */
async function connectUnreadable(tenant: Tenant, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1) {
    ids.push(await connect(tenant, { groupRef: `unreadable-${number}`, inMs: 1_000 }));
  }
  const credentialsSealed = 'v1.00000000.AAAA';
  await prisma.connection.updateMany({ where: { id: { in: ids } }, data: { credentialsSealed } });
  return ids;
}

test('postpones unreadable connections, and refreshes the others', async () => {
  const tenant = await createTenantWithApp();
  const unreadable = await connectUnreadable(tenant, 8);
  const id = await connect(tenant, { groupRef: 'readable', inMs: 60_000 });
  await refreshTokensSweep.run(services, new AbortController().signal);
  const expireTime = new Date(Date.now() + 120_000);
  expect(await prisma.connection.findFirstOrThrow({ where: { id } })).toMatchObject({
    tokenExpireTime: expect.toSatisfy((time: Date) => time > expireTime),
  });
  const waiting = { id: { in: unreadable }, refreshRetryTime: { gt: expireTime } };
  expect(await prisma.connection.count({ where: waiting })).toBe(unreadable.length);
  const logged = lines
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === 'token.not_refreshed');
  expect(logged.map(({ connectionId }) => connectionId).toSorted()).toEqual(unreadable.toSorted());
  expect(logged[0].err.message).toContain('sealed with the key 00000000');
  await prisma.connection.deleteMany({ where: { id: { in: unreadable } } });
});

test('ends the sweep while the database is unavailable, and postpones no connection', async () => {
  const tenant = await createTenantWithApp();
  const id = await connect(tenant, { groupRef: 'away', inMs: 60_000 });
  const open = () => {
    throw new ServiceUnavailable('The database is away.', { cause: null, retryAfterSeconds: 2 });
  };
  const failingServices = { ...services, vault: { ...services.vault, open } };
  await expect(refreshDueTokens(failingServices)).rejects.toThrow('The database is away.');
  expect(await prisma.connection.findFirstOrThrow({ where: { id } })).toMatchObject({
    refreshRetryTime: null,
  });
});

test('starts no batch while the server stops', async () => {
  const tenant = await createTenantWithApp();
  const id = await connect(tenant, { groupRef: 'waiting', inMs: 60_000 });
  const before = await prisma.connection.findFirstOrThrow({ where: { id } });
  await refreshTokensSweep.run(services, AbortSignal.abort());
  expect(await prisma.connection.findFirstOrThrow({ where: { id } })).toEqual(before);
});
