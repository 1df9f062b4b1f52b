import { expect, test } from 'vitest';
import { ReadPositions } from '../../src/database/reads/read-positions.ts';

/** Samples of a primary whose position is ten times its time. */
function sampledAt(times: number[]) {
  const positions = new ReadPositions();
  for (const ms of times) positions.sampled({ ms, position: BigInt(ms * 10) });
  return positions;
}

test('rows are as old as the newest sample that was replayed', () => {
  const positions = sampledAt([1_000, 2_000, 3_000]);
  expect(positions.ageOf(30_000n, 'key', 3_100)).toBe(100);
  expect(positions.ageOf(29_999n, 'key', 3_100)).toBe(1_100);
  expect(positions.ageOf(99_000n, 'key', 3_100)).toBe(100);
});

test('nothing is known of what was replayed before the first sample, nor before there is one', () => {
  expect(new ReadPositions().ageOf(99n, 'key', 1)).toBeNull();
  const positions = sampledAt([1_000, 2_000]);
  expect(positions.ageOf(9_999n, 'key', 2_000)).toBeNull();
  expect(positions.ageOf(10_000n, 'key', 2_000)).toBe(1_000);
});

test('who has written needs what it has written, and nobody else does', () => {
  const positions = sampledAt([1_000, 2_000]);
  positions.wrote('writer', { ms: 2_100, position: 20_500n });
  expect(positions.ageOf(20_000n, 'writer', 2_200)).toBeNull();
  expect(positions.ageOf(20_000n, 'reader', 2_200)).toBe(200);
  expect(positions.ageOf(20_500n, 'writer', 2_200)).toBe(200);
});

test('once changes may have been missed, nothing is fit until the next sample, and then only what has it', () => {
  const positions = sampledAt([1_000, 2_000]);
  positions.missed();
  expect(positions.ageOf(20_000n, 'key', 2_100)).toBeNull();
  positions.sampled({ ms: 2_500, position: 25_000n });
  expect(positions.ageOf(24_999n, 'key', 2_600)).toBeNull();
  expect(positions.ageOf(25_000n, 'key', 2_600)).toBe(100);
});

test('however many samples there are, those of the last minute count, a few dozen milliseconds apart', () => {
  const times = Array.from({ length: 200_000 }, (_, index) => index);
  const positions = sampledAt(times);
  const nowMs = 200_000;
  expect(positions.ageOf(BigInt(10 * 139_900), 'key', nowMs)).toBeNull();
  const age = positions.ageOf(BigInt(10 * 150_000), 'key', nowMs);
  expect(age).toBeGreaterThanOrEqual(50_000);
  expect(age).toBeLessThan(50_050);
});
