/** Durations of work, and when it ended. */

export interface Timed {
  ms: number;
  /** End of the work, on the clock of `performance.now()`. */
  atMs: number;
}

export interface Span {
  fromMs: number;
  toMs: number;
}

export function doneIn<T extends Pick<Timed, 'atMs'>>(all: readonly T[], span: Span): T[] {
  return all.filter(({ atMs }) => atMs > span.fromMs && atMs <= span.toMs);
}

export function p99(times: readonly number[]): number {
  return Math.round(times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0);
}
