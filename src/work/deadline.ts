/** Time limits of waits. A limit ends the wait, not the work. */
import { DomainError } from '../kernel/errors.ts';

/** Returns the result of `running`. If it takes longer than `maxMs`, returns or throws the result of `onLate`. */
export async function withDeadline<T, L = T>(
  running: Promise<T>,
  maxMs: number,
  onLate: () => L,
): Promise<T | L> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, maxMs);
  try {
    return await Promise.race([running, promise.then(onLate)]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until the work ends, successfully or not, but at most `maxMs`. */
export async function endWithin(running: Promise<unknown>, maxMs: number): Promise<void> {
  await withDeadline(
    running.then(
      () => {},
      () => {},
    ),
    maxMs,
    () => {},
  );
}

interface TimeLimits {
  LIMIT_QUERY_MS: number;
  LIMIT_MUTATION_MS: number;
}

/** Returns the longest duration of an operation or a request. */
export function getOperationMsMax(
  { LIMIT_QUERY_MS, LIMIT_MUTATION_MS }: TimeLimits,
  { isChange }: { isChange: boolean },
): number {
  return isChange ? LIMIT_MUTATION_MS : LIMIT_QUERY_MS;
}

/** Creates the error for an operation or a request that took too long. */
export function createTimeoutError(
  subject: 'operation' | 'request',
  { isChange, maximumMs }: { isChange: boolean; maximumMs: number },
): DomainError {
  const after = isChange
    ? ' A change in progress may still be made: check before you repeat it.'
    : '';
  const detail = `The ${subject} took longer than ${maximumMs} ms.${after}`;
  return new DomainError('QUERY_LIMIT_EXCEEDED', detail, { limit: 'time', maximum: maximumMs });
}

/** The share of SHUTDOWN_MS for running work. The rest is for closing resources. */
const STOP_WORK_SHARE = 0.8;

/** Returns how long running requests and background work may take after the process receives a stop signal. */
export function getStopWorkMs({ SHUTDOWN_MS }: { SHUTDOWN_MS: number }): number {
  return SHUTDOWN_MS * STOP_WORK_SHARE;
}
