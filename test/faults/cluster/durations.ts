import { computePercentile } from '../fixtures/percentile.ts';

export interface TimedWork {
  ms: number;
  /** End of the work, on the clock of `performance.now()`. */
  endMs: number;
}

export interface TimeSpan {
  fromMs: number;
  toMs: number;
}

export function filterEndedIn<T extends Pick<TimedWork, 'endMs'>>(
  work: readonly T[],
  { fromMs, toMs }: TimeSpan,
): T[] {
  return work.filter(({ endMs }) => endMs > fromMs && endMs <= toMs);
}

/** Returns the p99 in milliseconds, rounded, or 0 for an empty list. */
export function computeP99(durations: readonly number[]): number {
  return Math.round(computePercentile(durations, 0.99));
}
