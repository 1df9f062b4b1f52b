/** The network to the database drops all packets: nothing responds, and connections stay open. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/database/database.ts';
import { inTransaction } from '../../src/database/transaction.ts';
import { createLog } from '../../src/log.ts';
import { ENCRYPTION_KEY } from './scenes/gateway.ts';
import {
  expectEnd,
  expectRecovery,
  openScene,
  READY_MS,
  REPLACED_MS,
  watchReadiness,
} from './scenes/hang-scene.ts';
import { type OwnServer, startOwnServer } from './scenes/own-server.ts';
import { changeBy, expectUnavailable, readBy } from './scenes/surfaces.ts';

let server: OwnServer;
beforeAll(async () => {
  server = await startOwnServer();
});
afterAll(() => server.stop());

test('replaces open connections whose packets are lost, and releases locks of a hung process', async () => {
  const scene = await openScene(server);
  const { projectId } = scene.database.tenant;
  // Another process hangs in a transaction that has changed the project's log.
  const env = { DATABASE_URL: scene.database.url, ENCRYPTION_KEY };
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
  scene.database.proxy.blockOpen();
  const again = async (): Promise<void> => scene.recordEvent('after the lock').catch(() => again());
  await again();
  expect(performance.now() - beganMs).toBeLessThan(REPLACED_MS + 5_000);
  released.resolve();
  await expect(holding).rejects.toThrow();
  await hung[Symbol.asyncDispose]();

  await expectRecovery(scene, () => scene.database.proxy.blockOpen());
});

test('reports readiness and exits on SIGTERM while all packets are lost', async () => {
  const scene = await openScene(server);
  const readiness = watchReadiness(scene.gateway);
  scene.database.proxy.block();
  const responses = await Promise.all([...readBy(scene.where), ...changeBy(scene.where)]);
  expectUnavailable(responses);
  await expectEnd(scene);
  const looks = await readiness.end();
  expect(looks.some(({ status }) => status === 503)).toBe(true);
  expect(Math.max(...looks.map(({ ms }) => ms))).toBeLessThan(READY_MS);
});
