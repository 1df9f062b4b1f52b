import { expect, test } from 'vitest';
import {
  type AttemptedWrite,
  type AttemptFailure,
  decide,
  delayMs,
} from '../../../../src/domain/operation/write/retry.ts';

const now = new Date('2030-01-01T00:00:00Z');
const later = (ms: number) => new Date(now.getTime() + ms);

const creation: AttemptedWrite = {
  type: 'CREATE',
  mode: 'ASYNCHRONOUS',
  attempts: 1,
  deadlineTime: later(3_600_000),
  hasProviderKey: false,
  wasUncertain: false,
};
const unavailable: AttemptFailure = {
  message: 'Not now',
  passesLater: true,
  outcomeUnknown: false,
  retryAfterMs: null,
};
const timeout = { ...unavailable, outcomeUnknown: true };
const forbidden = { ...unavailable, passesLater: false };

const next = (write: Partial<AttemptedWrite>, failure: AttemptFailure, random = 1) =>
  decide({ ...creation, ...write }, failure, { now, random: () => random });

test('delays double up to ten minutes, half of each by chance, and never undercut Retry-After', () => {
  expect([1, 2, 3, 4].map((attempt) => delayMs(attempt, null, () => 1))).toEqual([
    1_000, 2_000, 4_000, 8_000,
  ]);
  expect([1, 2, 3, 4].map((attempt) => delayMs(attempt, null, () => 0))).toEqual([
    500, 1_000, 2_000, 4_000,
  ]);
  expect(delayMs(100, null, () => 1)).toBe(600_000);
  expect(delayMs(1, 90_000, () => 1)).toBe(90_000);
  expect(delayMs(12, 90_000, () => 1)).toBe(600_000);
});

test('what may pass is tried again until the deadline', () => {
  expect(next({}, unavailable)).toEqual({ kind: 'retry', time: later(1_000) });
  expect(next({ deadlineTime: later(1_000) }, unavailable)).toMatchObject({ kind: 'retry' });
  expect(next({ deadlineTime: later(999) }, unavailable)).toEqual({ kind: 'fail' });
  const asked = { ...unavailable, retryAfterMs: 3_600_001 };
  expect(next({}, asked)).toEqual({ kind: 'fail' });
});

test('what can not pass is not tried again', () => {
  expect(next({}, forbidden)).toEqual({ kind: 'fail' });
});

test('a creation that may be done is repeated only under a key that the provider knows', () => {
  expect(next({}, timeout)).toEqual({ kind: 'unknown' });
  expect(next({ hasProviderKey: true }, timeout)).toMatchObject({ kind: 'retry' });
  expect(next({ type: 'UPDATE' }, timeout)).toMatchObject({ kind: 'retry' });
  expect(next({ type: 'DELETE' }, timeout)).toMatchObject({ kind: 'retry' });
});

test('once in doubt, a write that is given up stays in doubt', () => {
  const inDoubt = { hasProviderKey: true, wasUncertain: true };
  expect(next(inDoubt, forbidden)).toEqual({ kind: 'unknown' });
  expect(next({ ...inDoubt, deadlineTime: now }, unavailable)).toEqual({ kind: 'unknown' });
});

test('who waits for a synchronous write is told of a failure at once; a doubt is cleared up twice', () => {
  const waited = { mode: 'SYNCHRONOUS', type: 'UPDATE' } as const;
  expect(next(waited, unavailable)).toEqual({ kind: 'fail' });
  expect(next(waited, timeout)).toMatchObject({ kind: 'retry' });
  expect(next({ ...waited, attempts: 2 }, timeout)).toMatchObject({ kind: 'retry' });
  expect(next({ ...waited, attempts: 3 }, timeout)).toEqual({ kind: 'unknown' });
});
