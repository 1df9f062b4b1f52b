/** Time limits on waits. They end the wait, not the work. */
import { DomainError } from '../errors.ts';

/** The result; if it takes longer, what `late` returns or throws. */
export async function withDeadline<T, L = T>(
  running: Promise<T>,
  maxMs: number,
  late: () => L,
): Promise<T | L> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, maxMs);
  try {
    return await Promise.race([running, promise.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for the end of the work, whatever it is, but not for longer. */
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

export interface TimeLimits {
  LIMIT_QUERY_MS: number;
  LIMIT_MUTATION_MS: number;
}

/** The longest that a caller waits for an operation or a request; then it is refused. */
export function operationMsMax(
  { LIMIT_QUERY_MS, LIMIT_MUTATION_MS }: TimeLimits,
  { isChange }: { isChange: boolean },
): number {
  return isChange ? LIMIT_MUTATION_MS : LIMIT_QUERY_MS;
}

/** The refusal of an operation or a request that took too long. */
export function outOfTime(
  what: 'operation' | 'request',
  { isChange, maximumMs }: { isChange: boolean; maximumMs: number },
): DomainError {
  const after = isChange ? ' What it had begun may still be done: look before you repeat it.' : '';
  const detail = `The ${what} took longer than ${maximumMs} ms.${after}`;
  return new DomainError('QUERY_LIMIT_EXCEEDED', detail, { limit: 'time', maximum: maximumMs });
}

/** The rest of SHUTDOWN_MS is for closing resources. */
const STOP_WORK_SHARE = 0.8;

/** What running requests and jobs have when the process is told to stop. */
export function stopWorkMs({ SHUTDOWN_MS }: { SHUTDOWN_MS: number }): number {
  return SHUTDOWN_MS * STOP_WORK_SHARE;
}
