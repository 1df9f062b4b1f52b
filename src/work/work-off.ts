/** Works off what waits, several at a time. */

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
