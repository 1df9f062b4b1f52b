/**
 * Another process takes over the work of a frozen process. When the frozen process resumes, its work is not repeated.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import {
  countById,
  ENDPOINT,
  IN_FLIGHT_MAX,
  startHangingReceiver,
  startHangingWrite,
} from './fixtures/interrupted-work.ts';
import { prepareOnPostgres, startServer } from './fixtures/write-fixture.ts';

/** Longer than the longest lease of a delivery or a write. */
const FROZEN_MS = 24_000;
const MINUTE_MS = 60_000;

test("takes over a frozen process's work when its leases expire, and refuses its late results", async () => {
  const fixture = await prepareOnPostgres();
  const { prisma } = fixture.database;
  const { hangingServer, findOperation } = await startHangingWrite(fixture);
  const nextServer = await startServer(fixture);
  // Either process may send a delivery. Only requests in flight may be repeated.
  const { receiver, deliveryIds } = await startHangingReceiver(fixture.database);
  await receiver.waitForMessages(ENDPOINT, IN_FLIGHT_MAX);
  hangingServer.child.kill('SIGSTOP');
  onTestFinished(() => void hangingServer.child.kill('SIGCONT'));
  receiver.setBehavior(ENDPOINT, { status: 200 });
  receiver.respondToHeld(ENDPOINT, { status: 200 });
  await delay(FROZEN_MS);

  expect(
    await prisma.serverProcess.count({ where: { lockMissingSince: null } }),
  ).toBeGreaterThanOrEqual(2);
  const countUndelivered = () => prisma.delivery.count({ where: { status: { not: 'SUCCEEDED' } } });
  await expect.poll(countUndelivered, { timeout: MINUTE_MS, interval: 50 }).toBe(0);
  const findStatus = async () => (await findOperation()).status;
  await expect.poll(findStatus, { timeout: MINUTE_MS, interval: 50 }).toBe('SUCCESS');
  const attempts = await prisma.deliveryAttempt.count();
  const endedOperation = await findOperation();

  hangingServer.child.kill('SIGCONT');
  // The resumed process serves requests again, and has had time to record late results.
  await hangingServer.client.query('{ __typename }');
  await delay(2_000);
  expect(await prisma.deliveryAttempt.count()).toBe(attempts);
  expect(await findOperation()).toEqual(endedOperation);
  expect(fixture.sandbox.listRecords('deals')).toHaveLength(1);
  const countsById = countById(receiver.listMessages(ENDPOINT));
  expect([...countsById.keys()].toSorted()).toEqual(deliveryIds.toSorted());
  const counts = [...countsById.values()];
  expect(counts.filter((count) => count > 1).length).toBeLessThanOrEqual(2 * IN_FLIGHT_MAX);
  expect(Math.max(...counts)).toBeLessThanOrEqual(2);
  await Promise.all([hangingServer.kill(), nextServer.kill()]);
});
