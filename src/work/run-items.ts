/** Runs waiting work, several items at a time. */
import { Alarm } from './signal.ts';

interface RunUntilEmpty<T> {
  /** Returns the next item. Null if none is left. */
  next: () => Promise<T | null>;
  work: (item: T) => Promise<void>;
  /** The maximum number of items that run at the same time. */
  concurrency: number;
  /** No item is started after it aborts. */
  signal: AbortSignal;
}

/** Runs items until none is left and all have ended. Throws the first error. The worker of a failed item stops. */
export async function runUntilEmpty<T>({
  next,
  work,
  concurrency,
  signal,
}: RunUntilEmpty<T>): Promise<void> {
  const worker = async () => {
    while (!signal.aborted) {
      const item = await next();
      if (item === null) return;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

interface RunClaims<T> {
  /** Returns the items to start now, in addition to those that are running. Empty if none may start. */
  claim: (running: number) => Promise<readonly T[]>;
  work: (item: T) => Promise<void>;
  /** How often more items are claimed while some are running. */
  pollMs: number;
}

/**
 * Runs claimed items that may take long, and claims more while they run. Returns when no items are left. Throws the
 * first error.
 */
export async function runClaims<T>({ claim, work, pollMs }: RunClaims<T>): Promise<void> {
  // A race of the running items would add handlers to each of them in every round.
  const endAlarm = new Alarm();
  const errors: unknown[] = [];
  let runningCount = 0;
  do {
    for (const item of await claim(runningCount)) {
      runningCount += 1;
      void work(item)
        .catch((error: unknown) => errors.push(error))
        .finally(() => {
          runningCount -= 1;
          endAlarm.ring();
        });
    }
    if (runningCount > 0) await endAlarm.wait(pollMs);
    if (errors.length > 0) throw errors[0];
  } while (runningCount > 0);
}
