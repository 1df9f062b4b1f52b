/**
 * Retries with exponential backoff, so that retries do not overload a service that is failing.
 */
import { setTimeout as sleep } from 'node:timers/promises';

export interface Backoff {
  /** The wait after the first failure. Each later wait is twice as long. */
  firstMs: number;
  maxMs: number;
  /**
   * The largest share of a wait that is randomly subtracted, so that work that failed together is not retried together.
   * Default: 0.
   */
  jitter?: number;
}

/** Returns the wait after this number of consecutive failures, which is at least 1. */
export function computeBackoffMs(
  { firstMs, maxMs, jitter = 0 }: Backoff,
  failures: number,
  random: () => number = Math.random,
): number {
  const longestMs = Math.min(firstMs * 2 ** (failures - 1), maxMs);
  return Math.round(longestMs * (1 - jitter * (1 - random())));
}

interface RetryOptions {
  backoff: Backoff;
  /** Called with each failure. */
  onFailure?: (error: unknown, failures: number) => void;
}

/** Retries the work until it succeeds. Returns undefined if the signal aborts, even while the work hangs. */
export async function retryUntilDone<T>(
  work: () => Promise<T>,
  { backoff, onFailure, signal }: RetryOptions & { signal: AbortSignal },
): Promise<T | undefined> {
  const aborted = Promise.withResolvers<undefined>();
  const onAbort = () => aborted.resolve(undefined);
  signal.addEventListener('abort', onAbort);
  try {
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        return await Promise.race([work(), aborted.promise]);
      } catch (error) {
        onFailure?.(error, failures);
        await sleep(computeBackoffMs(backoff, failures), undefined, { signal }).catch(() => {});
      }
    }
    return undefined;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Tries the work up to `triesMax` times, and throws its last error. A final error is thrown immediately. */
export async function retryUpTo<T>(
  work: () => Promise<T>,
  {
    backoff,
    onFailure,
    triesMax,
    isFinal = () => false,
  }: RetryOptions & { triesMax: number; isFinal?: (error: unknown) => boolean },
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries >= triesMax || isFinal(error)) throw error;
      onFailure?.(error, tries);
      await sleep(computeBackoffMs(backoff, tries));
    }
  }
}

/** Adds a failure to the consecutive ones before. Returns their number and the time of the next try. */
export function scheduleRetry(
  { now, random }: { now: () => Date; random: () => number },
  backoff: Backoff,
  failuresBefore: number,
): { failures: number; dueTime: Date } {
  const failures = failuresBefore + 1;
  return {
    failures,
    dueTime: new Date(now().getTime() + computeBackoffMs(backoff, failures, random)),
  };
}
