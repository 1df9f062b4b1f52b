/** Apps that tests have opened and not closed. One that is left would work on beside the files that follow. */
const open = new Map<AsyncDisposable, Error>();

export function noteOpen(app: AsyncDisposable): void {
  open.set(app, new Error('This app was opened here, and not closed.'));
}

export function noteClosed(app: AsyncDisposable): void {
  open.delete(app);
}

/** Throws where one was opened that is open still, once: the file that left it is the one that fails. */
export function expectNoneOpen(): void {
  const [left] = open.values();
  open.clear();
  if (left) throw left;
}

/** Those of a file that failed while it was loaded, whose hooks don't run: none of the next one. */
export async function closeLeft(): Promise<void> {
  const left = [...open.keys()];
  open.clear();
  for (const app of left) await app[Symbol.asyncDispose]();
}
