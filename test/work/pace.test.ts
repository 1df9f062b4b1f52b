import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Pace, Pacer } from '../../src/work/pace.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Returns the indexes of the parts that start with each allowance. */
async function planTurns(pace: Pace, parts: readonly number[]): Promise<number[][]> {
  const waits: number[][] = [[]];
  for (const [index, items] of parts.entries()) {
    const wait = pace.waitForAllowance(items);
    if (wait) void wait.then(() => waits.at(-1)?.push(index));
    else waits[0]?.push(index);
  }
  while (waits.flat().length < parts.length) {
    waits.push([]);
    await vi.advanceTimersToNextTimerAsync();
  }
  return waits;
}

test('starts parts in order while the allowance lasts', async () => {
  expect(await planTurns(new Pacer(100).createPace(), [40, 40, 40, 40, 40, 40])).toEqual([
    [0, 1, 2],
    [3, 4, 5],
  ]);
});

test('starts a part that exceeds the allowance alone', async () => {
  expect(await planTurns(new Pacer(100).createPace(), [500, 10, 500, 500])).toEqual([
    [0],
    [1, 2],
    [3],
  ]);
});

test('restores the whole allowance in the next turn of the event loop', async () => {
  const pace = new Pacer(100).createPace();
  expect(await planTurns(pace, [100])).toEqual([[0]]);
  await vi.advanceTimersToNextTimerAsync();
  expect(await planTurns(pace, [100])).toEqual([[0]]);
});

test('finishes the operation that began first, including parts that follow later', async () => {
  const pacer = new Pacer(100);
  const [first, second] = [pacer.createPace(), pacer.createPace()];
  const finishedParts: string[] = [];
  const run = async (name: string, pace: Pace) => {
    for (let part = 0; part < 3; part += 1) {
      await pace.waitForAllowance(100);
      finishedParts.push(name);
    }
  };
  // The second pace was created later, but its operation begins first.
  const operations = [run('second', second), run('first', first)];
  while (finishedParts.length < 6) await vi.advanceTimersToNextTimerAsync();
  await Promise.all(operations);
  expect(finishedParts).toEqual(['second', 'second', 'second', 'first', 'first', 'first']);
});

test('returns the last wait of an operation until its parts have proceeded', async () => {
  const pace = new Pacer(100).createPace();
  expect(pace.waitForAllowance(100)).toBeUndefined();
  expect(pace.lastWait).toBeUndefined();
  const waits = [pace.waitForAllowance(100), pace.waitForAllowance(100)];
  expect(pace.lastWait).toBe(waits[1]);
  await vi.advanceTimersToNextTimerAsync();
  expect(pace.lastWait).toBe(waits[1]);
  await vi.advanceTimersToNextTimerAsync();
  expect(pace.lastWait).toBeUndefined();
});
