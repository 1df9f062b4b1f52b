/** Decides whether and when a delivery is retried. */
import { HOUR_MS } from '../work/durations.ts';

/** Delays vary by up to 20%, so that deliveries that failed together are not retried together. */
const JITTER = 0.2;
/** The longest Retry-After that is respected. */
const RETRY_AFTER_MS_MAX = HOUR_MS;
/** The HTTP status of a receiver that no longer exists. */
export const GONE = 410;

/** The outcome of one HTTP request. */
export interface Outcome {
  /** The HTTP status. Null if the receiver did not respond. */
  responseStatus: number | null;
  /** A human-readable reason for the failure. Null if the attempt succeeded. */
  error: string | null;
  /** The header Retry-After, unchanged. */
  retryAfter?: string;
  /** The beginning of the response's body as text. Null if it was empty. */
  responseBody?: string | null;
}

/** The new state of a delivery after an attempt. */
type Decision =
  | { status: 'PENDING'; failureReason: null; nextAttemptTime: Date }
  | { status: 'SUCCEEDED'; failureReason: null; nextAttemptTime: null }
  | { status: 'FAILED'; failureReason: string; nextAttemptTime: null };

interface RetryRules {
  /** The delay before each retry. */
  retrySeconds: readonly number[];
  now: Date;
  /** A random number from 0 to below 1. */
  random: () => number;
}

/** Returns the new state after an attempt. `earlierAttempts` counts the attempts before it. */
export function decideRetry(
  outcome: Outcome,
  earlierAttempts: number,
  rules: RetryRules,
): Decision {
  if (outcome.error === null) {
    return { status: 'SUCCEEDED', failureReason: null, nextAttemptTime: null };
  }
  const delaySeconds = rules.retrySeconds[earlierAttempts];
  if (delaySeconds === undefined) {
    const failureReason = `Failed permanently at attempt ${earlierAttempts + 1}: ${outcome.error}`;
    return { status: 'FAILED', failureReason, nextAttemptTime: null };
  }
  const jitteredMs = delaySeconds * 1000 * (1 + JITTER * (2 * rules.random() - 1));
  const delayMs = Math.max(jitteredMs, parseRetryAfterMs(outcome.retryAfter, rules.now));
  const nextAttemptTime = new Date(rules.now.getTime() + Math.round(delayMs));
  return { status: 'PENDING', failureReason: null, nextAttemptTime };
}

/**
 * Returns the requested delay in milliseconds. The header contains a number of seconds or a date (RFC 9110, section
 * 10.2.3). Returns 0 for other values.
 */
function parseRetryAfterMs(header: string | undefined, now: Date): number {
  if (header === undefined) return 0;
  const requestedMs = /^\d+$/.test(header)
    ? Number(header) * 1000
    : Date.parse(header) - now.getTime();
  return Number.isNaN(requestedMs) ? 0 : Math.min(Math.max(requestedMs, 0), RETRY_AFTER_MS_MAX);
}
