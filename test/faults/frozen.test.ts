/**
 * Another process takes over the work of a frozen process, and the work is not duplicated when the frozen
 * process resumes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import {
  countDeliveries,
  ON_THE_WIRE,
  PLACE,
  receiverFor,
  writeOnTheWire,
} from './fixtures/on-the-wire.ts';
import { prepareOnPostgres } from './fixtures/write-fixture.ts';

/** Longer than the longest lease of a delivery or a write. */
const FROZEN_MS = 24_000;
const MINUTE_MS = 60_000;

test("another process takes over a frozen process's work after its leases, and late results are refused", async () => {
  const fixture = await prepareOnPostgres();
  const { prisma } = fixture.database;
  const { first, other, operation } = await writeOnTheWire(fixture);
  // Both processes may send deliveries. Only requests in flight may be sent twice.
  const { receiver, owed } = await receiverFor(fixture.database);
  await receiver.waitForMessages(PLACE, ON_THE_WIRE);
  first.child.kill('SIGSTOP');
  onTestFinished(() => void first.child.kill('SIGCONT'));
  receiver.setBehavior(PLACE, { status: 200 });
  receiver.respondToHeld(PLACE, { status: 200 });
  await sleep(FROZEN_MS);

  expect(await prisma.serverProcess.count({ where: { missedTime: null } })).toBeGreaterThanOrEqual(
    2,
  );
  const left = () => prisma.delivery.count({ where: { status: { not: 'SUCCEEDED' } } });
  await expect.poll(left, { timeout: MINUTE_MS, interval: 50 }).toBe(0);
  const status = async () => (await operation()).status;
  await expect.poll(status, { timeout: MINUTE_MS, interval: 50 }).toBe('SUCCESS');
  const attempts = await prisma.deliveryAttempt.count();
  const ended = await operation();

  first.child.kill('SIGCONT');
  // The resumed process serves requests again, and has had time to record late results.
  await first.client.query('{ __typename }');
  await sleep(2_000);
  expect(await prisma.deliveryAttempt.count()).toBe(attempts);
  expect(await operation()).toEqual(ended);
  expect(fixture.sandbox.records('deals')).toHaveLength(1);
  const times = countDeliveries(receiver.received(PLACE));
  expect([...times.keys()].toSorted()).toEqual(owed.toSorted());
  const twice = [...times.values()].filter((count) => count > 1).length;
  expect(twice).toBeLessThanOrEqual(2 * ON_THE_WIRE);
  expect([...times.values()].every((count) => count <= 2)).toBe(true);
  await Promise.all([first.kill(), other.kill()]);
});
