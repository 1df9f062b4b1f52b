/** Whether a write that has not ended is tried again, and when. */
import type { WriteMode, WriteType } from '../../../database/generated/enums.ts';
import type { Provider } from '../../../providers/contract.ts';
import { type Backoff, backoffMs } from '../../../work/backoff.ts';
import { MINUTE_MS } from '../../../work/durations.ts';

/** Half of each wait is random. */
const BACKOFF: Backoff = { firstMs: 1_000, maxMs: 10 * MINUTE_MS, jitter: 0.5 };
/** A caller waits: only an unknown outcome is repeated, soon, and if that is safe. */
const SYNCHRONOUS_ATTEMPTS = 3;

export interface AttemptFailure {
  message: string;
  /** Trying again later can help. */
  passesLater: boolean;
  /** The provider may have done it. */
  outcomeUnknown: boolean;
  /** How long the provider says to wait. */
  retryAfterMs: number | null;
}

export interface AttemptedWrite {
  type: WriteType;
  mode: WriteMode;
  /** With this one. */
  attempts: number;
  deadlineTime: Date;
  /** No attempt that begins later is known to the provider by its key; null if it knows no keys. */
  keyUntil: Date | null;
  /** The outcome of an earlier attempt is not known. */
  wasUncertain: boolean;
}

export type Decision =
  | { kind: 'retry'; time: Date }
  /** Not done, and not tried again. */
  | { kind: 'fail' }
  /** Perhaps done, and not to be repeated, or not found out in time. */
  | { kind: 'unknown' };

/** An update or a deletion leaves the same behind when it is done twice; a creation doesn't. */
export function isRepeatable(
  { type, keyUntil }: Pick<AttemptedWrite, 'type' | 'keyUntil'>,
  time: Date,
): boolean {
  return type !== 'CREATE' || (keyUntil !== null && time <= keyUntil);
}

/** Until when an attempt may begin whose last request reaches the provider while it knows the key. */
export function keyUntilOf(
  { takes: { idempotencyKeyMs }, limits }: Pick<Provider, 'takes' | 'limits'>,
  firstAttempt: Date,
): Date | null {
  if (idempotencyKeyMs === null) return null;
  return new Date(firstAttempt.getTime() + idempotencyKeyMs - limits.timeoutMs);
}

/** What follows from a failed attempt. `random` gives numbers from 0 to 1. */
export function decide(
  write: AttemptedWrite,
  failure: AttemptFailure,
  { now, random }: { now: Date; random: () => number },
): Decision {
  const isUncertain = failure.outcomeUnknown || write.wasUncertain;
  const given = { kind: isUncertain ? 'unknown' : 'fail' } as const;
  if (!failure.passesLater) return given;
  const time = new Date(now.getTime() + delayMs(write.attempts, failure.retryAfterMs, random));
  if (isUncertain && !isRepeatable(write, time)) return given;
  if (write.mode === 'SYNCHRONOUS') {
    const again = failure.outcomeUnknown && write.attempts < SYNCHRONOUS_ATTEMPTS;
    return again ? { kind: 'retry', time } : given;
  }
  return time > write.deadlineTime ? given : { kind: 'retry', time };
}

/** Twice as long each time, and never less than the provider requires. */
export function delayMs(
  attempts: number,
  retryAfterMs: number | null,
  random: () => number,
): number {
  return Math.max(backoffMs(BACKOFF, attempts, random), Math.round(retryAfterMs ?? 0));
}
