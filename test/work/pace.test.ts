import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Pace } from '../../src/work/pace.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Returns the indexes of the parts that start in each turn. */
async function planTurns(pace: Pace, parts: readonly number[]): Promise<number[][]> {
  const turns: number[][] = [[]];
  for (const [index, items] of parts.entries()) {
    const wait = pace.waitForTurn(items);
    if (wait) void wait.then(() => turns.at(-1)?.push(index));
    else turns[0]?.push(index);
  }
  while (turns.flat().length < parts.length) {
    turns.push([]);
    await vi.advanceTimersToNextTimerAsync();
  }
  return turns;
}

test('starts parts in order while the allowance of a turn lasts', async () => {
  expect(await planTurns(new Pace(100), [40, 40, 40, 40, 40, 40])).toEqual([
    [0, 1, 2],
    [3, 4, 5],
  ]);
});

test('starts a part that exceeds the allowance alone', async () => {
  expect(await planTurns(new Pace(100), [500, 10, 500, 500])).toEqual([[0], [1, 2], [3]]);
});

test('restores the whole allowance after a turn', async () => {
  const pace = new Pace(100);
  expect(await planTurns(pace, [100])).toEqual([[0]]);
  await vi.advanceTimersToNextTimerAsync();
  expect(await planTurns(pace, [100])).toEqual([[0]]);
});
