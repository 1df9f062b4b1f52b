import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RemoteClock } from '../../src/work/clock.ts';

const HOUR_MS = 3_600_000;
const REMOTE = Date.parse('2031-01-01T00:00:00Z');

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Returns a reading that takes `wayMs` in each direction. */
function readAt(readTime: () => number, wayMs = 0) {
  return async () => {
    if (wayMs > 0) await vi.advanceTimersByTimeAsync(wayMs);
    const time = readTime();
    if (wayMs > 0) await vi.advanceTimersByTimeAsync(wayMs);
    return time;
  };
}

test('continues from the read time, whatever happens to the date of the process', async () => {
  const clock = new RemoteClock(readAt(() => REMOTE));
  await clock.sync();
  await vi.advanceTimersByTimeAsync(90_000);
  const elapsedMs = clock.now().getTime() - REMOTE;
  expect(elapsedMs).toBeCloseTo(90_000, 0);
  vi.setSystemTime(Date.now() + HOUR_MS);
  expect(clock.now().getTime() - REMOTE - elapsedMs).toBeLessThan(1);
});

test('assumes that half of the round trip precedes the reading', async () => {
  const clock = new RemoteClock(readAt(() => REMOTE, 50));
  await clock.sync();
  expect(clock.now().getTime() - REMOTE).toBeCloseTo(50, 0);
});

test('corrects the clock after a slow reading only as far as it proves an error', async () => {
  let [time, wayMs] = [REMOTE, 0];
  const clock = new RemoteClock(() => readAt(() => time, wayMs)());
  await clock.sync();
  const measureErrorMs = () => clock.now().getTime() - REMOTE;

  // The reading may have happened at any time in these 1,000 ms, the last one included.
  wayMs = 500;
  time = REMOTE + 990;
  await clock.sync();
  expect(measureErrorMs()).toBeCloseTo(1_000, 0);

  time = REMOTE + HOUR_MS;
  await clock.sync();
  const aheadMs = measureErrorMs() - HOUR_MS;
  expect(aheadMs).toBeGreaterThanOrEqual(0);
  expect(aheadMs).toBeLessThan(1_001);

  wayMs = 0;
  await clock.sync();
  expect(measureErrorMs()).toBeCloseTo(HOUR_MS, 0);
});
