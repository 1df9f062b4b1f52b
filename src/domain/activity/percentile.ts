/** Durations as a histogram with fixed buckets: counts of any time and process add up, and take the same room. */

/** Four for each doubling, from 1 ms to 55 s: longer than any attempt may take. */
export const HISTOGRAM_BUCKETS = 64;
const BUCKETS_OF_DOUBLING = 4;

/** The duration in milliseconds that so many of 1 took at most; null if there were none. At most a fifth too long. */
export function percentileMs(durations: readonly number[], share: number): number | null {
  const total = durations.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let seen = 0;
  const bucket = durations.findIndex((count) => {
    seen += count;
    return seen >= total * share;
  });
  return Math.round(2 ** (bucket / BUCKETS_OF_DOUBLING));
}
