/** Another process continues the work of a killed one within seconds. */
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { createLog } from '../../src/log.ts';
import {
  countDeliveries,
  MESSAGES,
  ON_THE_WIRE,
  PLACE,
  receiverFor,
  writeOnTheWire,
} from './fixtures/on-the-wire.ts';
import { beginBackfill, expectEachPageEnqueuedOnce } from './fixtures/read-fixture.ts';
import {
  type Fixture,
  prepareEmbedded,
  prepareOnPostgres,
  startServer,
} from './fixtures/write-fixture.ts';

const TAKEOVER_MS_MAX = 6_000;
/** Only the start takes time. The process does not wait for leases, which last 20 s. */
const EMBEDDED_MS_MAX = 6_000;
const MINUTE_MS = 60_000;

/** Pages of 200 are slow enough that the kill occurs during the read. */
const RECORDS = 5_000;
const PAGE_DELAY_MS = 100;

const elapsedSince = (startMs: number) => Math.round(performance.now() - startMs);

test('another process sends the deliveries of a killed one within 6 s (PostgreSQL)', async () => {
  const fixture = await prepareOnPostgres();
  const { receiver, owed } = await receiverFor(fixture.database);
  const first = await startServer(fixture);
  await receiver.waitForMessages(PLACE, ON_THE_WIRE);
  const other = await startServer(fixture);
  receiver.setBehavior(PLACE, { status: 200 });
  // May be more than ON_THE_WIRE, if hanging requests timed out and others followed.
  const sentBefore = receiver.received(PLACE).length;

  const killedMs = performance.now();
  await first.kill();
  await receiver.waitForMessages(PLACE, sentBefore + MESSAGES);
  console.log(`what was held was sent ${elapsedSince(killedMs)} ms after a SIGKILL`);
  expect(elapsedSince(killedMs)).toBeLessThan(TAKEOVER_MS_MAX);
  const left = () =>
    fixture.database.prisma.delivery.count({ where: { status: { not: 'SUCCEEDED' } } });
  await expect.poll(left, { timeout: MINUTE_MS, interval: 50 }).toBe(0);
  const times = countDeliveries(receiver.received(PLACE));
  expect([...times.keys()].toSorted()).toEqual(owed.toSorted());
  expect(receiver.received(PLACE).length).toBe(sentBefore + MESSAGES);
  await other.kill();
});

test('a reopened embedded database sends interrupted deliveries within 6 s', async () => {
  const fixture = await prepareEmbedded();
  const database = await openDatabase(readConfig(fixture.env), createLog('silent'));
  const { receiver, owed } = await receiverFor(database);
  await database[Symbol.asyncDispose]();
  const first = await startServer(fixture);
  await receiver.waitForMessages(PLACE, ON_THE_WIRE);
  await first.kill();
  receiver.setBehavior(PLACE, { status: 200 });

  const next = await startServer(fixture);
  const readyMs = performance.now();
  await receiver.waitForMessages(PLACE, ON_THE_WIRE + 1);
  console.log(`first delivery ${elapsedSince(readyMs)} ms after the database was open again`);
  expect(elapsedSince(readyMs)).toBeLessThan(EMBEDDED_MS_MAX);
  await receiver.waitForMessages(PLACE, MESSAGES + ON_THE_WIRE);
  expect([...countDeliveries(receiver.received(PLACE)).keys()].toSorted()).toEqual(owed.toSorted());
  await next.kill();
});

test('another process continues a write of a killed one within 8 s', async () => {
  const fixture = await prepareOnPostgres();
  const { first, other, operation } = await writeOnTheWire(fixture);
  const killedMs = performance.now();
  await first.kill();
  const status = async () => (await operation()).status;
  await expect.poll(status, { timeout: MINUTE_MS, interval: 50 }).toBe('SUCCESS');
  console.log(`a write went on ${elapsedSince(killedMs)} ms after a SIGKILL`);
  expect(elapsedSince(killedMs)).toBeLessThan(TAKEOVER_MS_MAX + 2_000);
  expect(fixture.sandbox.records('deals')).toHaveLength(1);
  await other.kill();
});

/** Starts a server whose read waits for its next page after at least one page has arrived. */
async function readOnTheWire(fixture: Fixture & { database: Database }) {
  const { prisma } = fixture.database;
  fixture.sandbox.seed('contacts', RECORDS);
  const pages = { method: 'GET', pathPrefix: '/objects/contacts/records' } as const;
  fixture.sandbox.faults.set({ ...pages, delayMs: PAGE_DELAY_MS, times: RECORDS });
  const first = await startServer(fixture);
  await beginBackfill(first, fixture);
  const run = () => prisma.readRun.findFirst();
  const waiting = { timeout: MINUTE_MS, interval: 20 };
  await expect.poll(async () => (await run())?.recordsRead ?? 0, waiting).toBeGreaterThan(0);
  fixture.sandbox.faults.set({ ...pages, delayMs: MINUTE_MS });
  const other = await startServer(fixture);
  const before = await run();
  expect(before?.leaseToken).toEqual(expect.any(String));
  return { first, other, run, recordsBefore: before?.recordsRead ?? 0 };
}

test('another process continues a read of a killed one within 6 s', async () => {
  const fixture = await prepareOnPostgres();
  const { first, other, run, recordsBefore } = await readOnTheWire(fixture);
  const killedMs = performance.now();
  await first.kill();
  // The row is deleted when the read ends.
  const read = async () => (await run())?.recordsRead ?? RECORDS;
  await expect.poll(read, { timeout: MINUTE_MS, interval: 20 }).toBeGreaterThan(recordsBefore);
  console.log(`a read went on ${elapsedSince(killedMs)} ms after a SIGKILL`);
  expect(elapsedSince(killedMs)).toBeLessThan(TAKEOVER_MS_MAX);
  const { prisma } = fixture.database;
  const status = async () =>
    (await prisma.operation.findFirst({ where: { actionType: 'READ' } }))?.status;
  await expect.poll(status, { timeout: MINUTE_MS, interval: 50 }).toBe('SUCCESS');
  await expectEachPageEnqueuedOnce(fixture.database, fixture.sandbox);
  await other.kill();
});
