/** Work of a process that is frozen is done by another, and is not doubled when it goes on. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { ON_THE_WIRE, PLACE, receiverFor, timesOf, writeOnTheWire } from './scenes/on-the-wire.ts';
import { prepareOnPostgres } from './scenes/write-scene.ts';

/** Beyond the longest lease that a delivery or a write has. */
const FROZEN_MS = 24_000;
const MINUTE_MS = 60_000;

test('what a frozen process held is done by another after its leases, and its late results are refused', async () => {
  const scene = await prepareOnPostgres();
  const { prisma } = scene.database;
  const { first, other, operation } = await writeOnTheWire(scene);
  // Both may hold some: what each has on the wire may come twice, and nothing else.
  const { receiver, owed } = await receiverFor(scene.database);
  await receiver.arrived(PLACE, ON_THE_WIRE);
  first.child.kill('SIGSTOP');
  onTestFinished(() => void first.child.kill('SIGCONT'));
  receiver.behave(PLACE, { status: 200 });
  receiver.answerHeld(PLACE, { status: 200 });
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
  // It answers again, and has recorded by then whatever it could.
  await first.client.query('{ __typename }');
  await sleep(2_000);
  expect(await prisma.deliveryAttempt.count()).toBe(attempts);
  expect(await operation()).toEqual(ended);
  expect(scene.sandbox.records('deals')).toHaveLength(1);
  const times = timesOf(receiver.received(PLACE));
  expect([...times.keys()].toSorted()).toEqual(owed.toSorted());
  const twice = [...times.values()].filter((count) => count > 1).length;
  expect(twice).toBeLessThanOrEqual(2 * ON_THE_WIRE);
  expect([...times.values()].every((count) => count <= 2)).toBe(true);
  await Promise.all([first.kill(), other.kill()]);
});
