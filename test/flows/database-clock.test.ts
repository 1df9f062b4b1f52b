/** A process whose clock is wrong schedules work and finds due work by the database's clock. */

import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { tokenRefreshes } from '../../src/domain/connections/connection/token/refresh-due-token.ts';
import { startWork } from '../../src/start/start-work.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { queryRows } from '../support/database/query.ts';
import { createDeliveryProject } from '../support/fixtures/deliveries.ts';
import { installReads, POLLING } from '../support/fixtures/reads.ts';
import { createContact, createWriter } from '../support/fixtures/writes.ts';
import { ENCRYPTION_KEY } from '../support/process/encryption-key.ts';
import { connectWithTokens, getConnection } from '../support/providers/oauth.ts';
import { startReceiver } from '../support/receiver.ts';
import { runDueRows } from '../support/work/due-work.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const RETRY_MS = 10 * MINUTE_MS;
/** The random share of a retry delay. */
const JITTER_SHARE = 0.2;
/** The period of the read's schedule. */
const READ_PERIOD_MS = 10 * MINUTE_MS;
const EVERY_TEN_MINUTES = '*/10 * * * *';
const TOKEN_LIFETIME_MS = HOUR_MS;
/** The allowed deviation of a due time. */
const TOLERANCE_MS = 30_000;
/** A token that expires then is refreshed now. */
const EXPIRING_MS = 30_000;
/** Work that is due then must wait until the test has ended. */
const LATER_MS = HOUR_MS / 2;

const ENV = {
  ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
  DELIVERY_RETRY_SECONDS: String(RETRY_MS / 1_000),
  ENCRYPTION_KEY,
};

afterEach(() => void vi.useRealTimers());

/** Creates the app, without its workers, in a process whose clock is ahead by `aheadMs`. */
async function createAheadApp(aheadMs: number): Promise<TestApp> {
  vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true, now: Date.now() + aheadMs });
  const app = await createTestApp({ env: ENV });
  onTestFinished(() => app[Symbol.asyncDispose]());
  return app;
}

async function startWorkers({ app }: TestApp): Promise<void> {
  const work = await startWork(app.services);
  onTestFinished(() => work[Symbol.asyncDispose]());
}

async function readDatabaseTimeMs({ app }: TestApp): Promise<number> {
  const [row] = await queryRows<{ ms: number }>(
    app.services.database,
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as "ms"',
    [],
  );
  return row?.ms ?? Number.NaN;
}

interface Span {
  fromMs: number;
  toMs: number;
}

/** Expects `time` to be within `span` after a moment of the database's clock between `startMs` and now. */
async function expectAfter(app: TestApp, startMs: number, time: Date | null, span: Span) {
  const ms = time?.getTime() ?? Number.NaN;
  // The process reads the database's clock with a delay, so its estimate is slightly off.
  expect(ms).toBeGreaterThan(startMs + span.fromMs - TOLERANCE_MS);
  expect(ms).toBeLessThan((await readDatabaseTimeMs(app)) + span.toMs + TOLERANCE_MS);
}

describe.each([
  ['ahead', HOUR_MS],
  ['behind', -HOUR_MS],
])('in a process whose clock is an hour %s', (_name, aheadMs) => {
  test("delivers and retries messages by the database's clock", async () => {
    const app = await createAheadApp(aheadMs);
    await startWorkers(app);
    const { database } = app.app.services;
    await using receiver = await startReceiver();
    receiver.setBehavior('hook', { status: 500 });
    const { createDestination, enqueue } = await createDeliveryProject(database);
    const { id } = await createDestination(receiver.getUrl('hook'));
    const startMs = await readDatabaseTimeMs(app);
    const [laterDeliveryId = ''] = await enqueue(id, 1, {
      nextAttemptTime: new Date(startMs + LATER_MS),
    });
    const [due = ''] = await enqueue(id, 1, { nextAttemptTime: new Date(startMs - 1_000) });

    const findDelivery = (deliveryId: string) =>
      database.prisma.delivery.findFirstOrThrow({ where: { id: deliveryId } });
    await expect.poll(async () => (await findDelivery(due)).attemptCount, POLLING).toBe(1);
    const span = { fromMs: RETRY_MS * (1 - JITTER_SHARE), toMs: RETRY_MS * (1 + JITTER_SHARE) };
    await expectAfter(app, startMs, (await findDelivery(due)).nextAttemptTime, span);
    expect(receiver.listMessages('hook').map((message) => message.id)).toEqual([due]);
    expect(await findDelivery(laterDeliveryId)).toMatchObject({
      attemptCount: 0,
      leaseToken: null,
    });
  });

  test("retries writes by the database's clock", async () => {
    const app = await createAheadApp(aheadMs);
    await startWorkers(app);
    const { prisma } = app.app.services.database;
    const writer = await createWriter(app);
    const retryAfterSeconds = RETRY_MS / 1_000;
    app.app.sandbox.faults.set({ status: 503, retryAfterSeconds, method: 'POST' });
    const startMs = await readDatabaseTimeMs(app);
    const { operationId } = await writer.write({ mode: 'ASYNCHRONOUS', record: createContact() });

    const findTask = () => prisma.writeTask.findFirstOrThrow({ where: { id: operationId } });
    const isPostponed = async () => {
      const { attempts, leaseToken } = await findTask();
      return attempts === 1 && leaseToken === null;
    };
    await expect.poll(isPostponed, POLLING).toBe(true);
    const span = { fromMs: RETRY_MS, toMs: RETRY_MS };
    await expectAfter(app, startMs, (await findTask()).dueTime, span);
  });

  test("begins reads by the database's clock", async () => {
    const app = await createAheadApp(aheadMs);
    const { prisma } = app.app.services.database;
    const reads = await installReads(app, await app.createTenant(), {
      object: { schedule: EVERY_TEN_MINUTES },
    });
    const waitingReads = await installReads(app, await app.createTenant());
    const startMs = await readDatabaseTimeMs(app);
    const setNextReadTime = (installationId: string, ms: number) =>
      prisma.installedObject.updateMany({
        where: { installationId },
        data: { nextReadTime: new Date(startMs + ms) },
      });
    await setNextReadTime(waitingReads.id, LATER_MS);
    await setNextReadTime(reads.id, -1_000);

    // Workers that run earlier could read the objects when they are installed, before their times are set.
    await startWorkers(app);
    await reads.waitForOperations(1);
    await expectAfter(app, startMs, (await reads.getObject()).nextReadTime, {
      fromMs: 0,
      toMs: READ_PERIOD_MS,
    });
    expect(await waitingReads.listOperations()).toEqual([]);
  });

  test("refreshes and expires tokens by the database's clock", async () => {
    const app = await createAheadApp(aheadMs);
    const { services, sandbox } = app.app;
    const startMs = await readDatabaseTimeMs(app);
    const createExpiry = (ms: number) => ({ expiresAt: new Date(startMs + ms) });
    const laterConnection = await connectWithTokens(
      app,
      await app.createTenant(),
      createExpiry(LATER_MS),
    );
    const expiringConnection = await connectWithTokens(
      app,
      await app.createTenant(),
      createExpiry(EXPIRING_MS),
    );
    await runDueRows(services, tokenRefreshes);

    expect(sandbox.oauth.counts.refreshed).toBe(1);
    const { tokenExpireTime } = await getConnection(app, expiringConnection.id);
    await expectAfter(app, startMs, tokenExpireTime, {
      fromMs: TOKEN_LIFETIME_MS,
      toMs: TOKEN_LIFETIME_MS,
    });
    expect((await getConnection(app, laterConnection.id)).tokenExpireTime).toEqual(
      laterConnection.tokenExpireTime,
    );
  });
});

test.each([
  ['ahead', HOUR_MS],
  ['back', -HOUR_MS],
])("retries deliveries by the database's clock if the clock of the process jumps %s", async (_name, jumpMs) => {
  const app = await createAheadApp(0);
  await startWorkers(app);
  const { database } = app.app.services;
  await using receiver = await startReceiver();
  receiver.setBehavior('hook', { status: 500 });
  const { createDestination, enqueue } = await createDeliveryProject(database);
  const { id } = await createDestination(receiver.getUrl('hook'));
  vi.setSystemTime(Date.now() + jumpMs);
  const startMs = await readDatabaseTimeMs(app);
  const [due = ''] = await enqueue(id, 1, { nextAttemptTime: new Date(startMs - 1_000) });

  const findDelivery = () => database.prisma.delivery.findFirstOrThrow({ where: { id: due } });
  await expect.poll(async () => (await findDelivery()).attemptCount, POLLING).toBe(1);
  const span = { fromMs: RETRY_MS * (1 - JITTER_SHARE), toMs: RETRY_MS * (1 + JITTER_SHARE) };
  await expectAfter(app, startMs, (await findDelivery()).nextAttemptTime, span);
});
