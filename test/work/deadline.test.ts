import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  createTimeoutError,
  endWithin,
  getOperationMsMax,
  withDeadline,
} from '../../src/work/deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pending = new Promise<never>(() => {});

test('returns a result in time, and leaves no timer', async () => {
  expect(await withDeadline(Promise.resolve(1), 1_000, () => 2)).toBe(1);
  await expect(withDeadline(Promise.reject(new Error('no')), 1_000, () => 2)).rejects.toThrow('no');
  expect(vi.getTimerCount()).toBe(0);
});

test('returns the fallback for late work, or throws its error', async () => {
  const result = withDeadline(pending, 1_000, () => 'late');
  const rejected = withDeadline(pending, 1_000, () => {
    throw createTimeoutError('request', { isChange: false, maximumMs: 1_000 });
  });
  const rejection = expect(rejected).rejects.toThrow('The request took longer than 1000 ms.');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await result).toBe('late');
  await rejection;
});

test('waits until the work has ended, for at most the time limit', async () => {
  await endWithin(Promise.reject(new Error('no')), 1_000);
  const ending = endWithin(pending, 1_000);
  await vi.advanceTimersByTimeAsync(1_000);
  await ending;
});

test('reports that a change may still be made after its timeout', () => {
  const limits = { LIMIT_QUERY_MS: 10, LIMIT_MUTATION_MS: 30 };
  expect([true, false].map((isChange) => getOperationMsMax(limits, { isChange }))).toEqual([
    30, 10,
  ]);
  expect(createTimeoutError('operation', { isChange: true, maximumMs: 30 }).problem).toMatchObject({
    detail:
      'The operation took longer than 30 ms. A change in progress may still be made: check before you repeat it.',
    limit: 'time',
    maximum: 30,
  });
});
