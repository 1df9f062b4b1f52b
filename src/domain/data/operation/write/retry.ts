/** Decides whether and when a failed attempt of a write is retried. */

import type { WriteMode, WriteType } from '../../../../database/generated/enums.ts';
import type { Text } from '../../../../kernel/text.ts';
import type { Provider } from '../../../../providers/contract.ts';
import { type Backoff, computeBackoffMs } from '../../../../work/backoff.ts';
import { MINUTE_MS } from '../../../../work/durations.ts';

/** Waits between attempts. Half of each wait is random. */
const BACKOFF: Backoff = { firstMs: 1_000, maxMs: 10 * MINUTE_MS, jitter: 0.5 };
/**
 * The maximum number of attempts of a synchronous write. Its caller waits, so only an unknown outcome is retried, and only
 * if a retry is safe.
 */
const SYNCHRONOUS_ATTEMPTS_MAX = 3;

export interface AttemptFailure {
  message: Text;
  /** True if a later attempt can succeed. */
  isTemporary: boolean;
  /** True if the provider may have executed the write. */
  isOutcomeUnknown: boolean;
  /** The wait that the provider requires. */
  retryAfterMs: number | null;
}

export interface AttemptedWrite {
  type: WriteType;
  mode: WriteMode;
  /** The number of attempts, including the current one. */
  attempts: number;
  deadlineTime: Date;
  /** The latest start of an attempt whose idempotency key the provider still recognizes. Null without keys. */
  keyUntil: Date | null;
  /** True if the outcome of an earlier attempt is unknown. */
  wasUncertain: boolean;
}

type Decision =
  | { kind: 'retry'; time: Date }
  /** The write was not executed and is not retried. */
  | { kind: 'fail' }
  /** The write may have been executed and is not retried, because it must not be repeated or its deadline has passed. */
  | { kind: 'unknown' };

/**
 * True if the write may be repeated at this time. A repeated update or deletion has the same effect. A repeated creation
 * needs a valid idempotency key.
 */
export function isRepeatable(
  { type, keyUntil }: Pick<AttemptedWrite, 'type' | 'keyUntil'>,
  time: Date,
): boolean {
  return type !== 'CREATE' || (keyUntil !== null && time <= keyUntil);
}

/**
 * Returns the latest start of an attempt whose last request reaches the provider before its idempotency key expires.
 */
export function getKeyExpireTime(
  { features: { idempotencyKeyLifetimeMs }, limits }: Pick<Provider, 'features' | 'limits'>,
  firstAttemptTime: Date,
): Date | null {
  if (idempotencyKeyLifetimeMs === null) return null;
  return new Date(firstAttemptTime.getTime() + idempotencyKeyLifetimeMs - limits.timeoutMs);
}

/** Decides what follows a failed attempt. `random` returns numbers from 0 to below 1. */
export function decideRetry(
  write: AttemptedWrite,
  failure: AttemptFailure,
  { now, random }: { now: Date; random: () => number },
): Decision {
  const isUncertain = failure.isOutcomeUnknown || write.wasUncertain;
  const outcome = { kind: isUncertain ? 'unknown' : 'fail' } as const;
  if (!failure.isTemporary) return outcome;
  const time = new Date(
    now.getTime() + computeDelayMs(write.attempts, failure.retryAfterMs, random),
  );
  if (isUncertain && !isRepeatable(write, time)) return outcome;
  if (write.mode === 'SYNCHRONOUS') {
    const isRetried = failure.isOutcomeUnknown && write.attempts < SYNCHRONOUS_ATTEMPTS_MAX;
    return isRetried ? { kind: 'retry', time } : outcome;
  }
  return time > write.deadlineTime ? outcome : { kind: 'retry', time };
}

/**
 * Returns the wait before the next attempt. It doubles with each attempt, and is never shorter than the provider requires.
 */
export function computeDelayMs(
  attempts: number,
  retryAfterMs: number | null,
  random: () => number,
): number {
  return Math.max(computeBackoffMs(BACKOFF, attempts, random), Math.round(retryAfterMs ?? 0));
}
