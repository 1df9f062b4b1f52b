import { expect, test } from 'vitest';
import { Alarm, Signal } from '../../src/work/signal.ts';

test('wakes all current waiters, and no later waiter', async () => {
  const signal = new Signal();
  const wokenWaiters: number[] = [];
  const waits = [1, 2].map((number) => signal.wait().then(() => wokenWaiters.push(number)));
  signal.raise();
  await Promise.all(waits);
  expect(wokenWaiters).toEqual([1, 2]);
  void signal.wait().then(() => wokenWaiters.push(3));
  await new Promise(setImmediate);
  expect(wokenWaiters).toEqual([1, 2]);
});

test('ends one wait after an alarm that rang while nothing waited', async () => {
  const alarm = new Alarm();
  alarm.ring();
  alarm.ring();
  await alarm.wait(3_600_000);
  let isWaiting = true;
  const waiting = alarm.wait(3_600_000).then(() => {
    isWaiting = false;
  });
  await new Promise(setImmediate);
  expect(isWaiting).toBe(true);
  alarm.ring();
  await waiting;
});

test('ends a wait after its time if no alarm rings', async () => {
  await new Alarm().wait(1);
});
