/** Work that many ask for at once, and that is done once for all of them. */

/** Who asks while it is under way shares the next run: a result is never older than the call that gets it. */
export function coalesced<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | null = null;
  return () => {
    next ??= running.then(() => {
      next = null;
      const result = run();
      running = result.catch(() => {});
      return result;
    });
    return next;
  };
}
