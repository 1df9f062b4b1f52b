/** When workers go on: at a sign, or after a time; and how they wait while the database is gone. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';

const BACKOFF_MIN_MS = 50;

/** A sign that was given while nobody waited is not lost. One waits at a time. */
export class Alarm {
  #isRung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  /** Until it rings, or so long. */
  async wait(maxMs: number): Promise<void> {
    if (!this.#isRung) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, maxMs);
      await promise;
      clearTimeout(timer);
      this.#wake = undefined;
    }
    this.#isRung = false;
  }
}

export interface Persistence {
  log: Log;
  /** What failed, for the log. */
  what: string;
  backoffMaxMs: number;
  /** Ends it, also while the work hangs. */
  signal: AbortSignal;
}

/** Does the work until it succeeds, however often the database fails; undefined where the signal ended that. */
export async function untilDone<T>(
  work: () => Promise<T>,
  { log, what, backoffMaxMs, signal }: Persistence,
): Promise<T | undefined> {
  const { promise: ended, resolve: end } = Promise.withResolvers<undefined>();
  const onAbort = () => end(undefined);
  signal.addEventListener('abort', onAbort);
  try {
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        return await Promise.race([work(), ended]);
      } catch (error) {
        log.warn({ err: error, failures: failures + 1 }, what);
        const backoffMs = Math.min(BACKOFF_MIN_MS * 2 ** Math.min(failures, 20), backoffMaxMs);
        await sleep(backoffMs, undefined, { signal }).catch(() => {});
      }
    }
    return undefined;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
