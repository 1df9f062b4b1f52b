/** Another process continues the work of a killed process within seconds. */
import { expect, test } from 'vitest';
import type { Database } from '../../src/database/open/database.ts';
import { openDatabase } from '../../src/database/open/open-database.ts';
import { createLog } from '../../src/kernel/log.ts';
import { readConfig } from '../../src/settings/config.ts';
import {
  countById,
  ENDPOINT,
  IN_FLIGHT_MAX,
  MESSAGE_COUNT,
  startHangingReceiver,
  startHangingWrite,
} from './fixtures/interrupted-work.ts';
import { expectEachPageEnqueuedOnce, startBackfill } from './fixtures/read-fixture.ts';
import {
  type Fixture,
  prepareEmbedded,
  prepareOnPostgres,
  startServer,
} from './fixtures/write-fixture.ts';

const TAKEOVER_MS_MAX = 6_000;
/** Maximum time until the first delivery. It is shorter than leases, which last 20 s. */
const EMBEDDED_MS_MAX = 6_000;
const MINUTE_MS = 60_000;

/** With pages of 200 records and this delay, the kill occurs during the read. */
const RECORD_COUNT = 5_000;
const PAGE_DELAY_MS = 100;

const getElapsedMs = (startMs: number) => Math.round(performance.now() - startMs);

test('continues the deliveries of a killed process within 6 s, and its write within 8 s, in another process', async () => {
  const fixture = await prepareOnPostgres();
  const { hangingServer: firstServer, findOperation } = await startHangingWrite(fixture);
  const { receiver, deliveryIds } = await startHangingReceiver(fixture.database);
  await receiver.waitForMessages(ENDPOINT, IN_FLIGHT_MAX);
  const otherServer = await startServer(fixture);
  receiver.setBehavior(ENDPOINT, { status: 200 });
  // More than IN_FLIGHT_MAX messages, if hanging requests timed out and further requests followed.
  const sentBefore = receiver.listMessages(ENDPOINT).length;

  const killedMs = performance.now();
  await firstServer.kill();
  await receiver.waitForMessages(ENDPOINT, sentBefore + MESSAGE_COUNT);
  console.log(`the interrupted deliveries were sent ${getElapsedMs(killedMs)} ms after a SIGKILL`);
  expect(getElapsedMs(killedMs)).toBeLessThan(TAKEOVER_MS_MAX);
  const findStatus = async () => (await findOperation()).status;
  await expect.poll(findStatus, { timeout: MINUTE_MS, interval: 50 }).toBe('SUCCESS');
  console.log(`the write continued ${getElapsedMs(killedMs)} ms after a SIGKILL, or earlier`);
  expect(getElapsedMs(killedMs)).toBeLessThan(TAKEOVER_MS_MAX + 2_000);
  expect(fixture.sandbox.listRecords('deals')).toHaveLength(1);
  const countUndelivered = () =>
    fixture.database.prisma.delivery.count({ where: { status: { not: 'SUCCEEDED' } } });
  await expect.poll(countUndelivered, { timeout: MINUTE_MS, interval: 50 }).toBe(0);
  const times = countById(receiver.listMessages(ENDPOINT));
  expect([...times.keys()].toSorted()).toEqual(deliveryIds.toSorted());
  expect(receiver.listMessages(ENDPOINT).length).toBe(sentBefore + MESSAGE_COUNT);
  await otherServer.kill();
});

test('sends interrupted deliveries within 6 s after the embedded database is reopened', async () => {
  const fixture = await prepareEmbedded();
  const database = await openDatabase(readConfig(fixture.env), createLog('silent'));
  const { receiver, deliveryIds } = await startHangingReceiver(database);
  await database[Symbol.asyncDispose]();
  const firstServer = await startServer(fixture);
  await receiver.waitForMessages(ENDPOINT, IN_FLIGHT_MAX);
  await firstServer.kill();
  receiver.setBehavior(ENDPOINT, { status: 200 });

  const nextServer = await startServer(fixture);
  const readyMs = performance.now();
  await receiver.waitForMessages(ENDPOINT, IN_FLIGHT_MAX + 1);
  console.log(`first delivery ${getElapsedMs(readyMs)} ms after the database was open again`);
  expect(getElapsedMs(readyMs)).toBeLessThan(EMBEDDED_MS_MAX);
  await receiver.waitForMessages(ENDPOINT, MESSAGE_COUNT + IN_FLIGHT_MAX);
  expect([...countById(receiver.listMessages(ENDPOINT)).keys()].toSorted()).toEqual(
    deliveryIds.toSorted(),
  );
  await nextServer.kill();
});

/** Starts two servers. The first has read some pages, and waits for another page. */
async function startInterruptedRead(fixture: Fixture & { database: Database }) {
  const { prisma } = fixture.database;
  fixture.sandbox.seed('contacts', RECORD_COUNT);
  const pages = { method: 'GET', pathPrefix: '/objects/contacts/records' } as const;
  fixture.sandbox.faults.set({ ...pages, delayMs: PAGE_DELAY_MS, times: RECORD_COUNT });
  const firstServer = await startServer(fixture);
  await startBackfill(firstServer, fixture);
  const findRun = () => prisma.readRun.findFirst();
  const polling = { timeout: MINUTE_MS, interval: 20 };
  await expect.poll(async () => (await findRun())?.recordsRead ?? 0, polling).toBeGreaterThan(0);
  fixture.sandbox.faults.set({ ...pages, delayMs: MINUTE_MS });
  const otherServer = await startServer(fixture);
  const run = await findRun();
  expect(run?.leaseToken).toEqual(expect.any(String));
  return { firstServer, otherServer, findRun, recordsBefore: run?.recordsRead ?? 0 };
}

test('continues a read of a killed process in another process within 6 s', async () => {
  const fixture = await prepareOnPostgres();
  const { firstServer, otherServer, findRun, recordsBefore } = await startInterruptedRead(fixture);
  const killedMs = performance.now();
  await firstServer.kill();
  // The run is deleted when the read ends.
  const countRead = async () => (await findRun())?.recordsRead ?? RECORD_COUNT;
  await expect.poll(countRead, { timeout: MINUTE_MS, interval: 20 }).toBeGreaterThan(recordsBefore);
  console.log(`the read continued ${getElapsedMs(killedMs)} ms after a SIGKILL`);
  expect(getElapsedMs(killedMs)).toBeLessThan(TAKEOVER_MS_MAX);
  const { prisma } = fixture.database;
  const findStatus = async () =>
    (await prisma.operation.findFirst({ where: { actionType: 'READ' } }))?.status;
  await expect.poll(findStatus, { timeout: MINUTE_MS, interval: 50 }).toBe('SUCCESS');
  await expectEachPageEnqueuedOnce(fixture.database, fixture.sandbox);
  await otherServer.kill();
});
