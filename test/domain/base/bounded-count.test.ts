/** Concurrent calls share the query of a cached count, and wait only near the maximum. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Database } from '../../../src/database/open/database.ts';
import { createBoundedCount } from '../../../src/domain/base/bounded-count.ts';

const FRESH_MS = 60_000;

// A count is cached for a multiple of its duration, which grows on a busy machine. Only the tests advance this clock.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** Creates a database whose counts can be delayed. */
function createCountingDatabase(count: number) {
  const counting = { queries: 0, count, released: Promise.resolve() };
  const run = async () => {
    counting.queries += 1;
    await counting.released;
    if (counting.count < 0) throw new Error('The database is away.');
    return [{ count: counting.count }];
  };
  return { counting, database: { run } as unknown as Database };
}

test('shares a count among concurrent calls, and reuses it while it is fresh', async () => {
  const { counting, database } = createCountingDatabase(7);
  const count = createBoundedCount({ text: '', freshMs: FRESH_MS });
  const readCount = () => count(database, ['p'], 10);
  expect(await Promise.all(Array.from({ length: 50 }, readCount))).toEqual(Array(50).fill(7));
  expect(await readCount()).toBe(7);
  expect(counting.queries).toBe(1);
  expect(await count(database, ['q'], 10)).toBe(7);
  expect(counting.queries).toBe(2);
});

test('returns the last count while it is far from the maximum, and waits for a new count when it is near', async () => {
  const { counting, database } = createCountingDatabase(2);
  const count = createBoundedCount({ text: '', freshMs: FRESH_MS });
  const readCount = () => count(database, ['p'], 10);
  expect(await readCount()).toBe(2);
  vi.advanceTimersByTime(FRESH_MS);
  const { promise, resolve } = Promise.withResolvers<void>();
  counting.released = promise;
  counting.count = 6;
  expect(await Promise.all([readCount(), readCount()])).toEqual([2, 2]);
  expect(counting.queries).toBe(2);
  resolve();
  await expect.poll(readCount).toBe(6);
  expect(counting.queries).toBe(2);
  counting.count = 9;
  vi.advanceTimersByTime(FRESH_MS);
  expect(await readCount()).toBe(9);
});

test('rejects every waiting call if the count fails, and counts again on the next call', async () => {
  const { counting, database } = createCountingDatabase(-1);
  const count = createBoundedCount({ text: '', freshMs: FRESH_MS });
  const readCount = () => count(database, ['p'], 10);
  await expect(Promise.all([readCount(), readCount()])).rejects.toThrow('away');
  counting.count = 3;
  expect(await readCount()).toBe(3);
});
