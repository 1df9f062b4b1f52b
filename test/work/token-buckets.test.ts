import { expect, test } from 'vitest';
import { createTokenBuckets } from '../../src/work/token-buckets.ts';

function createBuckets(max?: number) {
  const clock = { ms: 0 };
  return { clock, ...createTokenBuckets({ perSecond: 2, burst: 3, max }, () => clock.ms) };
}

test('allows a burst, then one token per interval', () => {
  const { clock, take, getWaitSeconds } = createBuckets();
  expect([1, 2, 3, 4].map(() => take('a'))).toEqual([0, 0, 0, 0.5]);
  clock.ms += 250;
  expect(getWaitSeconds('a')).toBe(0.25);
  clock.ms += 250;
  expect([take('a'), take('a')]).toEqual([0, 0.5]);
});

test('takes several tokens together, or none', () => {
  const { clock, take, getWaitSeconds } = createBuckets();
  expect([take('a', 2), take('a', 2), take('a')]).toEqual([0, 0.5, 0]);
  expect(getWaitSeconds('a', 3)).toBe(1.5);
  clock.ms += 1_500;
  expect(take('a', 3)).toBe(0);
});

test('keeps a bucket for each name, which refills up to the burst', () => {
  const { clock, take, spend } = createBuckets();
  for (let count = 0; count < 3; count += 1) take('a');
  expect(spend('b')).toEqual({ waitSeconds: 0, tokens: 2 });
  clock.ms += 3_600_000;
  expect(spend('a')).toEqual({ waitSeconds: 0, tokens: 2 });
});

test('keeps the number of tokens when the clock moves backwards', () => {
  const { clock, take, spend } = createBuckets();
  take('a');
  clock.ms -= 10_000;
  expect(spend('a')).toEqual({ waitSeconds: 0, tokens: 1 });
});

test('forgets the names that were unused the longest', () => {
  const { take } = createBuckets(1);
  for (let count = 0; count < 3; count += 1) take('a');
  take('b');
  expect(take('a')).toBe(0);
});
