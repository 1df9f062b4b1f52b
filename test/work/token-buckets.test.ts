import { expect, test } from 'vitest';
import { createTokenBuckets } from '../../src/work/token-buckets.ts';

function buckets(max?: number) {
  const clock = { ms: 0 };
  return { clock, ...createTokenBuckets({ perSecond: 2, burst: 3, max }, () => clock.ms) };
}

test('a burst is there at once, then one comes after the other', () => {
  const { clock, take, wait } = buckets();
  expect([1, 2, 3, 4].map(() => take('a'))).toEqual([0, 0, 0, 0.5]);
  clock.ms += 250;
  expect(wait('a')).toBe(0.25);
  clock.ms += 250;
  expect([take('a'), take('a')]).toEqual([0, 0.5]);
});

test('several are taken together, or none', () => {
  const { clock, take, wait } = buckets();
  expect([take('a', 2), take('a', 2), take('a')]).toEqual([0, 0.5, 0]);
  expect(wait('a', 3)).toBe(1.5);
  clock.ms += 1_500;
  expect(take('a', 3)).toBe(0);
});

test('names have buckets of their own, which fill up to the burst', () => {
  const { clock, take, spend } = buckets();
  for (let n = 0; n < 3; n += 1) take('a');
  expect(spend('b')).toEqual({ waitSeconds: 0, tokens: 2 });
  clock.ms += 3_600_000;
  expect(spend('a')).toEqual({ waitSeconds: 0, tokens: 2 });
});

test('a clock that jumps back takes nothing away', () => {
  const { clock, take, wait } = buckets();
  take('a');
  clock.ms -= 10_000;
  expect(wait('a')).toBe(0);
});

test('the names that were not seen for the longest are forgotten', () => {
  const { take } = buckets(1);
  for (let n = 0; n < 3; n += 1) take('a');
  take('b');
  expect(take('a')).toBe(0);
});
