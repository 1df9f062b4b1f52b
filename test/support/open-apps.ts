/** Apps that tests have opened and not closed. One that is left would work on beside the files that follow. */
const open = new Map<object, Error>();

export function noteOpen(app: object): void {
  open.set(app, new Error('This app was opened here, and not closed.'));
}

export function noteClosed(app: object): void {
  open.delete(app);
}

/** Throws where one was opened that is open still, once: the file that left it is the one that fails. */
export function expectNoneOpen(): void {
  const [left] = open.values();
  open.clear();
  if (left) throw left;
}
