/** Works off what waits, several at a time. */
import { Alarm } from './signal.ts';

interface WorkOff<T> {
  /** Null if nothing waits any more. */
  next: () => Promise<T | null>;
  work: (one: T) => Promise<void>;
  /** The most at a time. */
  atOnce: number;
  /** After it nothing is begun. */
  signal: AbortSignal;
}

/** Ends when nothing waits and all that was begun has ended. Throws the first error, after which its worker takes no more. */
export async function workOff<T>({ next, work, atOnce, signal }: WorkOff<T>): Promise<void> {
  const worker = async () => {
    while (!signal.aborted) {
      const one = await next();
      if (one === null) return;
      await work(one);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

interface WorkOn<T> {
  /** What is begun now, beside what is under way; empty if nothing may be begun. */
  claim: (underWay: number) => Promise<readonly T[]>;
  work: (one: T) => Promise<void>;
  /** Between looks for more while some is under way. */
  lookMs: number;
}

/** Works on claims that may take long, and looks for more beside them. Ends when nothing is left. Throws the first error. */
export async function workOn<T>({ claim, work, lookMs }: WorkOn<T>): Promise<void> {
  // A race of what is under way would leave something with each of it at each look, until it ends.
  const hasEnded = new Alarm();
  const errors: unknown[] = [];
  let underWay = 0;
  do {
    for (const one of await claim(underWay)) {
      underWay += 1;
      void work(one)
        .catch((error: unknown) => errors.push(error))
        .finally(() => {
          underWay -= 1;
          hasEnded.ring();
        });
    }
    if (underWay > 0) await hasEnded.wait(lookMs);
    if (errors.length > 0) throw errors[0];
  } while (underWay > 0);
}
