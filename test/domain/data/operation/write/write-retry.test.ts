import { expect, test } from 'vitest';
import {
  type AttemptedWrite,
  type AttemptFailure,
  computeDelayMs,
  decideRetry,
  getKeyExpireTime,
} from '../../../../../src/domain/data/operation/write/retry.ts';
import { createSandboxProvider } from '../../../../../src/providers/sandbox/sandbox-provider.ts';

const sandbox = createSandboxProvider(() => 'http://127.0.0.1');
const now = new Date('2030-01-01T00:00:00Z');
const addMs = (ms: number) => new Date(now.getTime() + ms);

const creation: AttemptedWrite = {
  type: 'CREATE',
  mode: 'ASYNCHRONOUS',
  attempts: 1,
  deadlineTime: addMs(3_600_000),
  keyUntil: null,
  wasUncertain: false,
};
const unavailable: AttemptFailure = {
  message: 'Not now',
  isTemporary: true,
  isOutcomeUnknown: false,
  retryAfterMs: null,
};
const timeout = { ...unavailable, isOutcomeUnknown: true };
const forbidden = { ...unavailable, isTemporary: false };

const decideNext = (write: Partial<AttemptedWrite>, failure: AttemptFailure, random = 1) =>
  decideRetry({ ...creation, ...write }, failure, { now, random: () => random });

test('doubles the delay up to ten minutes, randomizes half of it, and waits at least for Retry-After', () => {
  expect([1, 2, 3, 4].map((attempt) => computeDelayMs(attempt, null, () => 1))).toEqual([
    1_000, 2_000, 4_000, 8_000,
  ]);
  expect([1, 2, 3, 4].map((attempt) => computeDelayMs(attempt, null, () => 0))).toEqual([
    500, 1_000, 2_000, 4_000,
  ]);
  expect(computeDelayMs(100, null, () => 1)).toBe(600_000);
  expect(computeDelayMs(1, 90_000, () => 1)).toBe(90_000);
  expect(computeDelayMs(12, 90_000, () => 1)).toBe(600_000);
});

test('retries a temporary failure until the deadline', () => {
  expect(decideNext({}, unavailable)).toEqual({ kind: 'retry', time: addMs(1_000) });
  expect(decideNext({ deadlineTime: addMs(1_000) }, unavailable)).toMatchObject({ kind: 'retry' });
  expect(decideNext({ deadlineTime: addMs(999) }, unavailable)).toEqual({ kind: 'fail' });
  const tooLate = { ...unavailable, retryAfterMs: 3_600_001 };
  expect(decideNext({}, tooLate)).toEqual({ kind: 'fail' });
});

test('does not retry a permanent failure', () => {
  expect(decideNext({}, forbidden)).toEqual({ kind: 'fail' });
});

test('retries a creation with an unknown outcome only while the provider remembers its idempotency key', () => {
  expect(decideNext({}, timeout)).toEqual({ kind: 'unknown' });
  expect(decideNext({ keyUntil: addMs(1_000) }, timeout)).toMatchObject({ kind: 'retry' });
  expect(decideNext({ keyUntil: addMs(999) }, timeout)).toEqual({ kind: 'unknown' });
  expect(decideNext({ type: 'UPDATE' }, timeout)).toMatchObject({ kind: 'retry' });
  expect(decideNext({ type: 'DELETE' }, timeout)).toMatchObject({ kind: 'retry' });
});

test('leaves the outcome unknown if a write with an uncertain attempt fails permanently', () => {
  const uncertainWrite = { keyUntil: addMs(60_000), wasUncertain: true };
  expect(decideNext(uncertainWrite, forbidden)).toEqual({ kind: 'unknown' });
  expect(decideNext({ ...uncertainWrite, deadlineTime: now }, unavailable)).toEqual({
    kind: 'unknown',
  });
});

test('does not retry a creation with an uncertain attempt after the provider forgets its idempotency key', () => {
  const uncertainWrite = { keyUntil: addMs(60_000), wasUncertain: true };
  expect(decideNext(uncertainWrite, { ...unavailable, retryAfterMs: 60_000 })).toMatchObject({
    kind: 'retry',
  });
  expect(decideNext(uncertainWrite, { ...unavailable, retryAfterMs: 60_001 })).toEqual({
    kind: 'unknown',
  });
  const certainWrite = { ...uncertainWrite, wasUncertain: false };
  expect(decideNext(certainWrite, { ...unavailable, retryAfterMs: 60_001 })).toMatchObject({
    kind: 'retry',
  });
});

test('ends an attempt with an idempotency key before the provider forgets the key', () => {
  const features = {
    associations: false,
    headers: false,
    idempotencyKeyLifetimeMs: 300_000,
    allOrNoneTypes: [],
  };
  const limits = { ...sandbox.limits, timeoutMs: 30_000 };
  expect(getKeyExpireTime({ features, limits }, now)).toEqual(addMs(270_000));
  expect(
    getKeyExpireTime({ features: { ...features, idempotencyKeyLifetimeMs: null }, limits }, now),
  ).toBeNull();
});

test('fails a synchronous write immediately, and retries it twice if the outcome is unknown', () => {
  const synchronousUpdate = { mode: 'SYNCHRONOUS', type: 'UPDATE' } as const;
  expect(decideNext(synchronousUpdate, unavailable)).toEqual({ kind: 'fail' });
  expect(decideNext(synchronousUpdate, timeout)).toMatchObject({ kind: 'retry' });
  expect(decideNext({ ...synchronousUpdate, attempts: 2 }, timeout)).toMatchObject({
    kind: 'retry',
  });
  expect(decideNext({ ...synchronousUpdate, attempts: 3 }, timeout)).toEqual({ kind: 'unknown' });
});
