/**
 * Registers the apps that tests opened and have not closed. The background work of an open app would disturb
 * later test files.
 */
const openApps = new Map<AsyncDisposable, Error>();

export function registerOpenApp(app: AsyncDisposable): void {
  openApps.set(app, new Error('This app was opened here, and not closed.'));
}

export function unregisterApp(app: AsyncDisposable): void {
  openApps.delete(app);
}

/**
 * Throws if an app is still open, with the place where it was opened. Throws once, so that only the file that
 * left it open fails.
 */
export function expectNoOpenApps(): void {
  const [firstError] = openApps.values();
  openApps.clear();
  if (firstError) throw firstError;
}

/** Closes the apps of a file that failed while it was loaded, because its hooks do not run. Returns false without any. */
export async function closeOpenApps(): Promise<boolean> {
  const apps = [...openApps.keys()];
  openApps.clear();
  for (const app of apps) await app[Symbol.asyncDispose]();
  return apps.length > 0;
}
