/** The network to the database drops all packets: nothing responds, and connections stay open. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open/open-database.ts';
import { inTransaction } from '../../src/database/transactions/transaction.ts';
import { createLog } from '../../src/kernel/log.ts';
import { readConfig } from '../../src/settings/config.ts';
import { ENCRYPTION_KEY } from '../support/process/encryption-key.ts';
import { type DedicatedServer, startDedicatedServer } from './fixtures/dedicated-server.ts';
import {
  expectExit,
  expectRecovery,
  READY_MS_MAX,
  REPLACEMENT_MS_MAX,
  startHangFixture,
  watchReadiness,
} from './fixtures/hang-fixture.ts';
import { expectUnavailable, sendChanges, sendReads } from './fixtures/surfaces.ts';

let server: DedicatedServer;
beforeAll(async () => {
  server = await startDedicatedServer();
});
afterAll(() => server.stop());

test('replaces open connections whose packets are lost, and releases locks of a hung process', async () => {
  const fixture = await startHangFixture(server);
  const { projectId } = fixture.database.tenant;
  // Another process hangs in a transaction that has changed the project's log.
  const env = { DATABASE_URL: fixture.database.url, ENCRYPTION_KEY };
  const hungDatabase = await openDatabase(readConfig(env), createLog('silent'));
  const [entered, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const heldTransaction = inTransaction(hungDatabase, async (tx) => {
    await tx.eventLog.update({ where: { projectId }, data: { lastPosition: { increment: 0 } } });
    entered.resolve();
    await released.promise;
  });
  heldTransaction.catch(() => {});
  await entered.promise;
  const startMs = performance.now();
  fixture.database.proxy.blockOpen();
  const recordWithRetries = async (): Promise<void> =>
    fixture.recordEvent('after the lock').catch(recordWithRetries);
  await recordWithRetries();
  expect(performance.now() - startMs).toBeLessThan(REPLACEMENT_MS_MAX + 5_000);
  released.resolve();
  await expect(heldTransaction).rejects.toThrow();
  await hungDatabase[Symbol.asyncDispose]();

  await expectRecovery(fixture, () => fixture.database.proxy.blockOpen());
});

test('reports readiness and exits on SIGTERM while all packets are lost', async () => {
  const fixture = await startHangFixture(server);
  const readiness = watchReadiness(fixture.gateway);
  fixture.database.proxy.block();
  const responses = await Promise.all([
    ...sendReads(fixture.target),
    ...sendChanges(fixture.target),
  ]);
  expectUnavailable(responses);
  await expectExit(fixture);
  const polls = await readiness.end();
  expect(polls.some(({ status }) => status === 503)).toBe(true);
  expect(Math.max(...polls.map(({ ms }) => ms))).toBeLessThan(READY_MS_MAX);
});
