import { expect, test } from 'vitest';
import {
  computeBackoffMs,
  retryUntilDone,
  retryUpTo,
  scheduleRetry,
} from '../../src/work/backoff.ts';

const SOON = { firstMs: 1, maxMs: 2 };

function createFailing(times: number) {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls <= times) throw new Error(`failure ${calls}`);
    return calls;
  };
}

test('doubles the wait up to the maximum', () => {
  const waitsMs = [1, 2, 3, 4, 5, 2_000].map((n) =>
    computeBackoffMs({ firstMs: 100, maxMs: 1_000 }, n),
  );
  expect(waitsMs).toEqual([100, 200, 400, 800, 1_000, 1_000]);
});

test('shortens the wait at most by the jitter', () => {
  const backoff = { firstMs: 1_000, maxMs: 60_000, jitter: 0.3 };
  expect(computeBackoffMs(backoff, 1, () => 0)).toBe(700);
  expect(computeBackoffMs(backoff, 1, () => 0.5)).toBe(850);
  expect(computeBackoffMs(backoff, 2, () => 1)).toBe(2_000);
});

test('retries until the work succeeds, and reports every failure', async () => {
  const { signal } = new AbortController();
  const failures: number[] = [];
  const onFailure = (_error: unknown, count: number) => failures.push(count);
  expect(await retryUntilDone(createFailing(3), { backoff: SOON, onFailure, signal })).toBe(4);
  expect(failures).toEqual([1, 2, 3]);
});

test('stops retrying when its signal aborts, even while the work hangs or a wait is under way', async () => {
  const hour = { firstMs: 3_600_000, maxMs: 3_600_000 };
  for (const work of [() => new Promise<never>(() => {}), createFailing(1)]) {
    const aborting = new AbortController();
    const done = retryUntilDone(work, { backoff: hour, signal: aborting.signal });
    setImmediate(() => aborting.abort());
    expect(await done).toBeUndefined();
  }
});

test('throws the last error after the last try', async () => {
  expect(await retryUpTo(createFailing(2), { backoff: SOON, triesMax: 3 })).toBe(3);
  const retries = retryUpTo(createFailing(9), { backoff: SOON, triesMax: 3 });
  await expect(retries).rejects.toThrow('failure 3');
});

test('throws a final error without another try', async () => {
  const retries = retryUpTo(createFailing(9), { backoff: SOON, triesMax: 3, isFinal: () => true });
  await expect(retries).rejects.toThrow('failure 1');
});

test('counts the failure, and schedules the retry from the current time', () => {
  const now = () => new Date(1_000);
  const backoff = { firstMs: 100, maxMs: 1_000, jitter: 0.5 };
  const first = scheduleRetry({ now, random: () => 1 }, backoff, 0);
  expect(first).toEqual({ failures: 1, dueTime: new Date(1_100) });
  const third = scheduleRetry({ now, random: () => 0 }, backoff, 2);
  expect(third).toEqual({ failures: 3, dueTime: new Date(1_200) });
});
