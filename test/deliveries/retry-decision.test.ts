import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideRetry } from '../../src/deliveries/retry-decision.ts';

const now = new Date('2026-01-01T00:00:00Z');
const failedAttempt = { responseStatus: 500, error: 'The receiver responded with 500.' };

function computeWaitMs(random: number, retryAfter?: string, retrySeconds = [100]) {
  const rules = { retrySeconds, now, random: () => random };
  const { nextAttemptTime } = decideRetry({ ...failedAttempt, retryAfter }, 0, rules);
  return (nextAttemptTime?.getTime() ?? Number.NaN) - now.getTime();
}

test('completes the delivery after a success', () => {
  const rules = { retrySeconds: [5], now, random: () => 0 };
  expect(decideRetry({ responseStatus: 204, error: null }, 3, rules)).toEqual({
    status: 'SUCCEEDED',
    failureReason: null,
    nextAttemptTime: null,
  });
});

test('varies the delay randomly by at most a fifth', () => {
  expect(computeWaitMs(0)).toBe(80_000);
  expect(computeWaitMs(0.5)).toBe(100_000);
  expect(computeWaitMs(1)).toBe(120_000);
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (random) => {
      const wait = computeWaitMs(random);
      return wait >= 80_000 && wait <= 120_000;
    }),
  );
});

test.each([
  ['110', 110_000],
  ['1', 100_000],
  ['3600', 3_600_000],
  ['3601', 3_600_000],
  ['99999999999999999999', 3_600_000],
  ['Thu, 01 Jan 2026 00:30:00 GMT', 1_800_000],
  ['Fri, 01 Jan 2027 00:00:00 GMT', 3_600_000],
  ['Wed, 31 Dec 2025 00:00:00 GMT', 100_000],
  ['-5', 100_000],
  ['1.5', 100_000],
  ['', 100_000],
])('turns Retry-After %j into a wait of %d ms if the delay is 100 s', (retryAfter, expected) => {
  expect(computeWaitMs(0.5, retryAfter)).toBe(expected);
});

test('uses a delay for each attempt, and fails the delivery after the last one', () => {
  const rules = { retrySeconds: [1, 2], now, random: () => 0.5 };
  const decisions = [0, 1, 2, 3].map((attemptCount) =>
    decideRetry(failedAttempt, attemptCount, rules),
  );
  expect(decisions.map(({ status }) => status)).toEqual(['PENDING', 'PENDING', 'FAILED', 'FAILED']);
  expect(decisions[1]?.nextAttemptTime).toEqual(new Date(now.getTime() + 2_000));
  expect(decisions[2]).toMatchObject({
    failureReason: 'Failed permanently at attempt 3: The receiver responded with 500.',
    nextAttemptTime: null,
  });
});
