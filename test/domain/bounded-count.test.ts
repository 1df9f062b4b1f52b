/** A count that is kept for a while is asked for once at a time, and nobody waits who needn't. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { createBoundedCount } from '../../src/domain/bounded-count.ts';

/** A database that counts when it is let. */
function countingDatabase(count: number) {
  const counting = { asked: 0, count, isLet: Promise.resolve() };
  const query = async () => {
    counting.asked += 1;
    await counting.isLet;
    if (counting.count < 0) throw new Error('The database is away.');
    return [{ count: counting.count }];
  };
  return { counting, database: { rows: { query } } as unknown as Database };
}

test('many who ask at once share a count, and who asks later has it while it is fresh', async () => {
  const { counting, database } = countingDatabase(7);
  const count = createBoundedCount({ text: '', freshMs: 60_000 });
  const ask = () => count(database, ['p'], 10);
  expect(await Promise.all(Array.from({ length: 50 }, ask))).toEqual(Array(50).fill(7));
  expect(await ask()).toBe(7);
  expect(counting.asked).toBe(1);
  expect(await count(database, ['q'], 10)).toBe(7);
  expect(counting.asked).toBe(2);
});

test('far from the most the one before is good until the next is there; near it all wait', async () => {
  const { counting, database } = countingDatabase(2);
  const count = createBoundedCount({ text: '', freshMs: 1 });
  const ask = () => count(database, ['p'], 10);
  expect(await ask()).toBe(2);
  await wait(20);
  const { promise, resolve } = Promise.withResolvers<void>();
  counting.isLet = promise;
  counting.count = 6;
  expect(await Promise.all([ask(), ask()])).toEqual([2, 2]);
  expect(counting.asked).toBe(2);
  resolve();
  await wait(20);
  counting.count = 9;
  expect(await ask()).toBe(9);
});

test('a count that fails is told to who waits for it, and the next one asks again', async () => {
  const { counting, database } = countingDatabase(-1);
  const count = createBoundedCount({ text: '', freshMs: 60_000 });
  const ask = () => count(database, ['p'], 10);
  await expect(Promise.all([ask(), ask()])).rejects.toThrow('away');
  counting.count = 3;
  expect(await ask()).toBe(3);
});
