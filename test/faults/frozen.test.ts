/**
 * Another process takes over the work of a frozen process, and the work is not duplicated when the frozen
 * process resumes.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import {
  countById,
  ENDPOINT,
  IN_FLIGHT,
  startHangingReceiver,
  startInterruptedWrite,
} from './fixtures/interrupted-work.ts';
import { prepareOnPostgres } from './fixtures/write-fixture.ts';

/** Longer than the longest lease of a delivery or a write. */
const FROZEN_MS = 24_000;
const MINUTE_MS = 60_000;

test("another process takes over a frozen process's work after its leases, and late results are refused", async () => {
  const fixture = await prepareOnPostgres();
  const { prisma } = fixture.database;
  const { first, other, findOperation } = await startInterruptedWrite(fixture);
  // Both processes may send deliveries. Only requests in flight may be sent twice.
  const { receiver, deliveryIds } = await startHangingReceiver(fixture.database);
  await receiver.waitForMessages(ENDPOINT, IN_FLIGHT);
  first.child.kill('SIGSTOP');
  onTestFinished(() => void first.child.kill('SIGCONT'));
  receiver.setBehavior(ENDPOINT, { status: 200 });
  receiver.respondToHeld(ENDPOINT, { status: 200 });
  await delay(FROZEN_MS);

  expect(await prisma.serverProcess.count({ where: { missedTime: null } })).toBeGreaterThanOrEqual(
    2,
  );
  const countLeft = () => prisma.delivery.count({ where: { status: { not: 'SUCCEEDED' } } });
  await expect.poll(countLeft, { timeout: MINUTE_MS, interval: 50 }).toBe(0);
  const findStatus = async () => (await findOperation()).status;
  await expect.poll(findStatus, { timeout: MINUTE_MS, interval: 50 }).toBe('SUCCESS');
  const attempts = await prisma.deliveryAttempt.count();
  const endedOperation = await findOperation();

  first.child.kill('SIGCONT');
  // The resumed process serves requests again, and has had time to record late results.
  await first.client.query('{ __typename }');
  await delay(2_000);
  expect(await prisma.deliveryAttempt.count()).toBe(attempts);
  expect(await findOperation()).toEqual(endedOperation);
  expect(fixture.sandbox.records('deals')).toHaveLength(1);
  const countsById = countById(receiver.listMessages(ENDPOINT));
  expect([...countsById.keys()].toSorted()).toEqual(deliveryIds.toSorted());
  const counts = [...countsById.values()];
  expect(counts.filter((count) => count > 1).length).toBeLessThanOrEqual(2 * IN_FLIGHT);
  expect(Math.max(...counts)).toBeLessThanOrEqual(2);
  await Promise.all([first.kill(), other.kill()]);
});
