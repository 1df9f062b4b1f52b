import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { followClock, RemoteClock } from '../../../src/database/connect/clock.ts';

const HOUR_MS = 3_600_000;
const REMOTE_MS = Date.parse('2031-01-01T00:00:00Z');

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A clock that measures the time by the stopped clock of the test. */
const createClock = (read: () => Promise<number>) => new RemoteClock(read, performance);

/** Returns a function that reads the time, with a delay of `oneWayMs` in each direction. */
function createReading(readTime: () => number, oneWayMs = 0) {
  return async () => {
    if (oneWayMs > 0) await vi.advanceTimersByTimeAsync(oneWayMs);
    const time = readTime();
    if (oneWayMs > 0) await vi.advanceTimersByTimeAsync(oneWayMs);
    return time;
  };
}

test('continues from the read time, even if the clock of the process is changed', async () => {
  const clock = createClock(createReading(() => REMOTE_MS));
  await clock.sync();
  await vi.advanceTimersByTimeAsync(90_000);
  const elapsedMs = clock.now().getTime() - REMOTE_MS;
  expect(elapsedMs).toBeCloseTo(90_000, 0);
  vi.setSystemTime(Date.now() + HOUR_MS);
  expect(clock.now().getTime() - REMOTE_MS - elapsedMs).toBeLessThan(1);
});

test('assumes that half of the round trip precedes the reading', async () => {
  const clock = createClock(createReading(() => REMOTE_MS, 50));
  await clock.sync();
  expect(clock.now().getTime() - REMOTE_MS).toBeCloseTo(50, 0);
});

test('corrects the clock after a slow reading only by the error that the reading proves', async () => {
  let [time, oneWayMs] = [REMOTE_MS, 0];
  const clock = createClock(() => createReading(() => time, oneWayMs)());
  await clock.sync();
  const measureErrorMs = () => clock.now().getTime() - REMOTE_MS;

  // The reading may have happened at any time within these 1,000 ms.
  oneWayMs = 500;
  time = REMOTE_MS + 990;
  await clock.sync();
  expect(measureErrorMs()).toBeCloseTo(1_000, 0);

  time = REMOTE_MS + HOUR_MS;
  await clock.sync();
  const aheadMs = measureErrorMs() - HOUR_MS;
  expect(aheadMs).toBeGreaterThanOrEqual(0);
  expect(aheadMs).toBeLessThan(1_001);

  oneWayMs = 0;
  await clock.sync();
  expect(measureErrorMs()).toBeCloseTo(HOUR_MS, 0);
});

// Databases stay open while several files of a worker run. A file that stops the global clock must not change the time
// of the databases.
test('measures the time by the clock of the process, even if a test replaces the global clock', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  using clock = await followClock(async <T>() => [{ ms: REMOTE_MS }] as T[]);
  vi.advanceTimersByTime(HOUR_MS);
  expect(clock.now().getTime() - REMOTE_MS).toBeLessThan(HOUR_MS / 2);
});
