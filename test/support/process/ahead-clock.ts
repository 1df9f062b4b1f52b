/** Returns a clock for `now` of an app. It is ahead of the real one by `aheadMs`, which the test changes. */
export function createAheadClock() {
  const clock = { aheadMs: 0, now: () => new Date(Date.now() + clock.aheadMs) };
  return clock;
}
