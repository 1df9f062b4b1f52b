import { expect, test } from 'vitest';
import {
  computeBackoffMs,
  retryUntilDone,
  retryUpTo,
  scheduleRetry,
} from '../../src/work/backoff.ts';

const SHORT_BACKOFF = { firstMs: 1, maxMs: 2 };

function createFailingWork(times: number) {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls <= times) throw new Error(`failure ${calls}`);
    return calls;
  };
}

test('doubles the wait up to the maximum', () => {
  const waitsMs = [1, 2, 3, 4, 5, 2_000].map((failures) =>
    computeBackoffMs({ firstMs: 100, maxMs: 1_000 }, failures),
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
  expect(
    await retryUntilDone(createFailingWork(3), { backoff: SHORT_BACKOFF, onFailure, signal }),
  ).toBe(4);
  expect(failures).toEqual([1, 2, 3]);
});

test('stops retrying when the signal aborts, even while the work hangs or the next attempt waits', async () => {
  const hourlyBackoff = { firstMs: 3_600_000, maxMs: 3_600_000 };
  for (const work of [() => new Promise<never>(() => {}), createFailingWork(1)]) {
    const controller = new AbortController();
    const done = retryUntilDone(work, { backoff: hourlyBackoff, signal: controller.signal });
    setImmediate(() => controller.abort());
    expect(await done).toBeUndefined();
  }
});

test('throws the last error after the last attempt', async () => {
  expect(await retryUpTo(createFailingWork(2), { backoff: SHORT_BACKOFF, triesMax: 3 })).toBe(3);
  const retries = retryUpTo(createFailingWork(9), { backoff: SHORT_BACKOFF, triesMax: 3 });
  await expect(retries).rejects.toThrow('failure 3');
});

test('throws a final error without another attempt', async () => {
  const retries = retryUpTo(createFailingWork(9), {
    backoff: SHORT_BACKOFF,
    triesMax: 3,
    isFinal: () => true,
  });
  await expect(retries).rejects.toThrow('failure 1');
});

test('counts the failure, and schedules the retry from the current time', () => {
  const now = () => new Date(1_000);
  const backoff = { firstMs: 100, maxMs: 1_000, jitter: 0.5 };
  const firstRetry = scheduleRetry({ now, random: () => 1 }, backoff, 0);
  expect(firstRetry).toEqual({ failures: 1, dueTime: new Date(1_100) });
  const thirdRetry = scheduleRetry({ now, random: () => 0 }, backoff, 2);
  expect(thirdRetry).toEqual({ failures: 3, dueTime: new Date(1_200) });
});
