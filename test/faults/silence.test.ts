/** The network to the database drops all packets: nothing responds, and connections stay open. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/database/database.ts';
import { inTransaction } from '../../src/database/transaction.ts';
import { createLog } from '../../src/log.ts';
import { ENCRYPTION_KEY } from './fixtures/gateway.ts';
import {
  expectEnd,
  expectRecovery,
  openFixture,
  READY_MS,
  REPLACED_MS,
  watchReadiness,
} from './fixtures/hang-fixture.ts';
import { type OwnServer, startOwnServer } from './fixtures/own-server.ts';
import { changeBy, expectUnavailable, readBy } from './fixtures/surfaces.ts';

let server: OwnServer;
beforeAll(async () => {
  server = await startOwnServer();
});
afterAll(() => server.stop());

test('replaces open connections whose packets are lost, and releases locks of a hung process', async () => {
  const fixture = await openFixture(server);
  const { projectId } = fixture.database.tenant;
  // Another process hangs in a transaction that has changed the project's log.
  const env = { DATABASE_URL: fixture.database.url, ENCRYPTION_KEY };
  const hung = await openDatabase(readConfig(env), createLog('silent'));
  const [entered, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = inTransaction(hung, async (tx) => {
    await tx.eventLog.update({ where: { projectId }, data: { lastPosition: { increment: 0 } } });
    entered.resolve();
    await released.promise;
  });
  holding.catch(() => {});
  await entered.promise;
  const beganMs = performance.now();
  fixture.database.proxy.blockOpen();
  const again = async (): Promise<void> =>
    fixture.recordEvent('after the lock').catch(() => again());
  await again();
  expect(performance.now() - beganMs).toBeLessThan(REPLACED_MS + 5_000);
  released.resolve();
  await expect(holding).rejects.toThrow();
  await hung[Symbol.asyncDispose]();

  await expectRecovery(fixture, () => fixture.database.proxy.blockOpen());
});

test('reports readiness and exits on SIGTERM while all packets are lost', async () => {
  const fixture = await openFixture(server);
  const readiness = watchReadiness(fixture.gateway);
  fixture.database.proxy.block();
  const responses = await Promise.all([...readBy(fixture.where), ...changeBy(fixture.where)]);
  expectUnavailable(responses);
  await expectEnd(fixture);
  const looks = await readiness.end();
  expect(looks.some(({ status }) => status === 503)).toBe(true);
  expect(Math.max(...looks.map(({ ms }) => ms))).toBeLessThan(READY_MS);
});
