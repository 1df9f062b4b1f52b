/** What becomes of a delivery after an attempt. */
import { HOUR_MS } from '../work/durations.ts';

/** Jitter: a fifth more or less, so that deliveries that failed together are not retried together. */
const JITTER = 0.2;
/** The longest Retry-After that is followed. */
const RETRY_AFTER_MAX_MS = HOUR_MS;
/** The receiver says that it is gone for good. */
export const GONE = 410;

/** The outcome of one HTTP request. */
export interface Outcome {
  /** Null if no answer came. */
  responseStatus: number | null;
  /** For people; null if it succeeded. */
  error: string | null;
  /** As the receiver sent it. */
  retryAfter?: string;
  /** The beginning of what it answered, for people; null for nothing. */
  responseBody?: string | null;
}

export interface Decision {
  status: 'PENDING' | 'SUCCEEDED' | 'FAILED';
  failureReason: string | null;
  nextAttemptTime: Date | null;
}

export interface RetryRules {
  /** Delays after the first attempt. */
  retrySeconds: readonly number[];
  now: Date;
  /** From 0 up to 1. */
  random: () => number;
}

/** `attemptCount` is the number of attempts before this one. */
export function decide(outcome: Outcome, attemptCount: number, rules: RetryRules): Decision {
  if (outcome.error === null) {
    return { status: 'SUCCEEDED', failureReason: null, nextAttemptTime: null };
  }
  const delaySeconds = rules.retrySeconds[attemptCount];
  if (delaySeconds === undefined) {
    const failureReason = `Given up after ${attemptCount + 1} attempts: ${outcome.error}`;
    return { status: 'FAILED', failureReason, nextAttemptTime: null };
  }
  const jittered = delaySeconds * 1000 * (1 + JITTER * (2 * rules.random() - 1));
  const delayMs = Math.max(jittered, retryAfterMs(outcome.retryAfter, rules.now));
  const nextAttemptTime = new Date(rules.now.getTime() + Math.round(delayMs));
  return { status: 'PENDING', failureReason: null, nextAttemptTime };
}

/** Seconds or a date (RFC 9110, 10.2.3); anything else is ignored. */
function retryAfterMs(header: string | undefined, now: Date): number {
  if (header === undefined) return 0;
  const requestedMs = /^\d+$/.test(header)
    ? Number(header) * 1000
    : Date.parse(header) - now.getTime();
  return Number.isNaN(requestedMs) ? 0 : Math.min(Math.max(requestedMs, 0), RETRY_AFTER_MAX_MS);
}
