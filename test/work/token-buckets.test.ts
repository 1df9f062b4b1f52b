import { expect, test } from 'vitest';
import { createTokenBuckets } from '../../src/work/token-buckets.ts';

function createBuckets(max?: number) {
  const clock = { ms: 0 };
  const buckets = createTokenBuckets({ perSecond: 2, burst: 3, max }, () => clock.ms);
  const takeAndGetWait = (key: string, count?: number) => buckets.take(key, count).waitSeconds;
  return { clock, ...buckets, takeAndGetWait };
}

test('allows a burst, then one token per interval', () => {
  const { clock, takeAndGetWait, getWaitSeconds } = createBuckets();
  expect([1, 2, 3, 4].map(() => takeAndGetWait('a'))).toEqual([0, 0, 0, 0.5]);
  clock.ms += 250;
  expect(getWaitSeconds('a')).toBe(0.25);
  clock.ms += 250;
  expect([takeAndGetWait('a'), takeAndGetWait('a')]).toEqual([0, 0.5]);
});

test('takes several tokens together, or none', () => {
  const { clock, takeAndGetWait, getWaitSeconds } = createBuckets();
  expect([takeAndGetWait('a', 2), takeAndGetWait('a', 2), takeAndGetWait('a')]).toEqual([
    0, 0.5, 0,
  ]);
  expect(getWaitSeconds('a', 3)).toBe(1.5);
  clock.ms += 1_500;
  expect(takeAndGetWait('a', 3)).toBe(0);
});

test('keeps a bucket for each key, which refills up to the burst', () => {
  const { clock, take } = createBuckets();
  for (let count = 0; count < 3; count += 1) take('a');
  expect(take('b')).toEqual({ waitSeconds: 0, tokens: 2 });
  clock.ms += 3_600_000;
  expect(take('a')).toEqual({ waitSeconds: 0, tokens: 2 });
});

test('keeps the number of tokens when the clock moves backwards', () => {
  const { clock, take } = createBuckets();
  take('a');
  clock.ms -= 10_000;
  expect(take('a')).toEqual({ waitSeconds: 0, tokens: 1 });
});

test('removes the bucket that was unused the longest when there are too many', () => {
  const { takeAndGetWait } = createBuckets(1);
  for (let count = 0; count < 3; count += 1) takeAndGetWait('a');
  takeAndGetWait('b');
  expect(takeAndGetWait('a')).toBe(0);
});
