/** Another process continues the work of a killed one within seconds. */
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { createLog } from '../../src/log.ts';
import {
  countById,
  ENDPOINT,
  IN_FLIGHT,
  MESSAGES,
  startHangingReceiver,
  startInterruptedWrite,
} from './fixtures/interrupted-work.ts';
import { expectEachPageEnqueuedOnce, startBackfill } from './fixtures/read-fixture.ts';
import {
  type Fixture,
  prepareEmbedded,
  prepareOnPostgres,
  startServer,
} from './fixtures/write-fixture.ts';

const TAKEOVER_MS_MAX = 6_000;
/** Time to start. The process does not wait for leases, which last 20 s. */
const EMBEDDED_MS_MAX = 6_000;
const MINUTE_MS = 60_000;

/** Pages of 200 are slow enough that the kill occurs during the read. */
const RECORDS = 5_000;
const PAGE_DELAY_MS = 100;

const elapsedSince = (startMs: number) => Math.round(performance.now() - startMs);

test('another process sends the deliveries of a killed one within 6 s (PostgreSQL)', async () => {
  const fixture = await prepareOnPostgres();
  const { receiver, deliveryIds } = await startHangingReceiver(fixture.database);
  const first = await startServer(fixture);
  await receiver.waitForMessages(ENDPOINT, IN_FLIGHT);
  const other = await startServer(fixture);
  receiver.setBehavior(ENDPOINT, { status: 200 });
  // May be more than ON_THE_WIRE, if hanging requests timed out and others followed.
  const sentBefore = receiver.listMessages(ENDPOINT).length;

  const killedMs = performance.now();
  await first.kill();
  await receiver.waitForMessages(ENDPOINT, sentBefore + MESSAGES);
  console.log(`the interrupted deliveries were sent ${elapsedSince(killedMs)} ms after a SIGKILL`);
  expect(elapsedSince(killedMs)).toBeLessThan(TAKEOVER_MS_MAX);
  const countLeft = () =>
    fixture.database.prisma.delivery.count({ where: { status: { not: 'SUCCEEDED' } } });
  await expect.poll(countLeft, { timeout: MINUTE_MS, interval: 50 }).toBe(0);
  const times = countById(receiver.listMessages(ENDPOINT));
  expect([...times.keys()].toSorted()).toEqual(deliveryIds.toSorted());
  expect(receiver.listMessages(ENDPOINT).length).toBe(sentBefore + MESSAGES);
  await other.kill();
});

test('a reopened embedded database sends interrupted deliveries within 6 s', async () => {
  const fixture = await prepareEmbedded();
  const database = await openDatabase(readConfig(fixture.env), createLog('silent'));
  const { receiver, deliveryIds } = await startHangingReceiver(database);
  await database[Symbol.asyncDispose]();
  const first = await startServer(fixture);
  await receiver.waitForMessages(ENDPOINT, IN_FLIGHT);
  await first.kill();
  receiver.setBehavior(ENDPOINT, { status: 200 });

  const next = await startServer(fixture);
  const readyMs = performance.now();
  await receiver.waitForMessages(ENDPOINT, IN_FLIGHT + 1);
  console.log(`first delivery ${elapsedSince(readyMs)} ms after the database was open again`);
  expect(elapsedSince(readyMs)).toBeLessThan(EMBEDDED_MS_MAX);
  await receiver.waitForMessages(ENDPOINT, MESSAGES + IN_FLIGHT);
  expect([...countById(receiver.listMessages(ENDPOINT)).keys()].toSorted()).toEqual(
    deliveryIds.toSorted(),
  );
  await next.kill();
});

test('another process continues a write of a killed one within 8 s', async () => {
  const fixture = await prepareOnPostgres();
  const { first, other, findOperation } = await startInterruptedWrite(fixture);
  const killedMs = performance.now();
  await first.kill();
  const findStatus = async () => (await findOperation()).status;
  await expect.poll(findStatus, { timeout: MINUTE_MS, interval: 50 }).toBe('SUCCESS');
  console.log(`the write continued ${elapsedSince(killedMs)} ms after a SIGKILL`);
  expect(elapsedSince(killedMs)).toBeLessThan(TAKEOVER_MS_MAX + 2_000);
  expect(fixture.sandbox.records('deals')).toHaveLength(1);
  await other.kill();
});

/** Starts two servers. The first waits for a page of a read after it has read others. */
async function startInterruptedRead(fixture: Fixture & { database: Database }) {
  const { prisma } = fixture.database;
  fixture.sandbox.seed('contacts', RECORDS);
  const pages = { method: 'GET', pathPrefix: '/objects/contacts/records' } as const;
  fixture.sandbox.faults.set({ ...pages, delayMs: PAGE_DELAY_MS, times: RECORDS });
  const first = await startServer(fixture);
  await startBackfill(first, fixture);
  const findRun = () => prisma.readRun.findFirst();
  const polling = { timeout: MINUTE_MS, interval: 20 };
  await expect.poll(async () => (await findRun())?.recordsRead ?? 0, polling).toBeGreaterThan(0);
  fixture.sandbox.faults.set({ ...pages, delayMs: MINUTE_MS });
  const other = await startServer(fixture);
  const run = await findRun();
  expect(run?.leaseToken).toEqual(expect.any(String));
  return { first, other, findRun, recordsBefore: run?.recordsRead ?? 0 };
}

test('another process continues a read of a killed one within 6 s', async () => {
  const fixture = await prepareOnPostgres();
  const { first, other, findRun, recordsBefore } = await startInterruptedRead(fixture);
  const killedMs = performance.now();
  await first.kill();
  // The row is deleted when the read ends.
  const countRead = async () => (await findRun())?.recordsRead ?? RECORDS;
  await expect.poll(countRead, { timeout: MINUTE_MS, interval: 20 }).toBeGreaterThan(recordsBefore);
  console.log(`the read continued ${elapsedSince(killedMs)} ms after a SIGKILL`);
  expect(elapsedSince(killedMs)).toBeLessThan(TAKEOVER_MS_MAX);
  const { prisma } = fixture.database;
  const findStatus = async () =>
    (await prisma.operation.findFirst({ where: { actionType: 'READ' } }))?.status;
  await expect.poll(findStatus, { timeout: MINUTE_MS, interval: 50 }).toBe('SUCCESS');
  await expectEachPageEnqueuedOnce(fixture.database, fixture.sandbox);
  await other.kill();
});
