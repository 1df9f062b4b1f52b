import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Turn, Turns } from '../../src/work/turns.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const LIMITS = { runningMax: 4, heavyWeight: 20, heavyMax: 3, callerHeavyMax: 2, waitMs: 1_000 };
const HEAVY_COST = 20;

function createTurns(limits: Partial<typeof LIMITS> = {}) {
  const turns = new Turns({ ...LIMITS, ...limits });
  /** Callers in the order in which their work started. */
  const startedCallers: string[] = [];
  /** Callers whose work waited too long. */
  const lateCallers: string[] = [];
  const begin = (caller: string, weight = 1): Turn => {
    const turn: Turn = { project: caller, caller, weight };
    const waiting = turns.begin(turn);
    if (!waiting) startedCallers.push(caller);
    else void waiting.then((begins) => (begins ? startedCallers : lateCallers).push(caller));
    return turn;
  };
  const end = async (turn: Turn) => {
    turns.end(turn);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { turns, startedCallers, lateCallers, begin, end };
}

test('starts work that fits immediately, and waiting work in fair order', async () => {
  const { turns, startedCallers, begin, end } = createTurns();
  const running = Array.from({ length: 4 }, () => begin('greedy'));
  for (let count = 0; count < 3; count += 1) begin('greedy');
  begin('quiet');
  expect(turns.waiting).toBe(4);
  expect(startedCallers).toEqual(Array(4).fill('greedy'));
  for (const turn of running) await end(turn);
  expect(startedCallers.slice(4)).toEqual(['quiet', 'greedy', 'greedy', 'greedy']);
  expect(turns.waiting).toBe(0);
});

test('starts light work while heavy work waits', () => {
  const { startedCallers, begin } = createTurns();
  for (const caller of ['a', 'b', 'c', 'd']) begin(caller, HEAVY_COST);
  expect(startedCallers).toEqual(['a', 'b', 'c']);
  begin('light');
  expect(startedCallers).toEqual(['a', 'b', 'c', 'light']);
});

test('runs at most two heavy operations of a caller, without delaying other callers', async () => {
  const { startedCallers, begin, end } = createTurns();
  const [firstTurn] = Array.from({ length: 4 }, () => begin('greedy', HEAVY_COST));
  expect(startedCallers).toEqual(['greedy', 'greedy']);
  begin('quiet', HEAVY_COST);
  expect(startedCallers).toEqual(['greedy', 'greedy', 'quiet']);
  if (firstTurn) await end(firstTurn);
  expect(startedCallers).toEqual(['greedy', 'greedy', 'quiet', 'greedy']);
});

test('never starts work that waits too long', async () => {
  const { turns, startedCallers, lateCallers, begin, end } = createTurns({ runningMax: 1 });
  const running = begin('a');
  begin('b');
  await vi.advanceTimersByTimeAsync(999);
  expect(lateCallers).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(lateCallers).toEqual(['b']);
  await end(running);
  expect(startedCallers).toEqual(['a']);
  expect(turns.waiting).toBe(0);
});

test('never starts canceled work, and releases its turn', async () => {
  const { startedCallers, lateCallers, begin, end } = createTurns({ runningMax: 1 });
  const running = begin('a');
  const canceled = begin('b');
  begin('c');
  await end(canceled);
  expect(lateCallers).toEqual(['b']);
  await end(running);
  expect(startedCallers).toEqual(['a', 'c']);
});

test('releases the turn of paused work, which resumes without a turn', async () => {
  const { turns, startedCallers, begin, end } = createTurns({ runningMax: 1 });
  const pausedWork = begin('a');
  begin('b');
  await end(pausedWork);
  expect(startedCallers).toEqual(['a', 'b']);
  turns.resume(pausedWork);
  begin('c');
  await end(pausedWork);
  // The work of b still runs.
  expect(startedCallers).toEqual(['a', 'b']);
});
