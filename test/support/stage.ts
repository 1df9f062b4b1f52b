/** What tests in a browser share: one server with the demo and one browser, for all of a file. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { launchBrowser, noBrowser } from './browser.ts';
import { type ServerProcess, startServerProcess } from './process/server-process.ts';

export interface Stage extends AsyncDisposable {
  server: ServerProcess;
  browser: Browser;
}

export async function openStage(env: Record<string, string>): Promise<Stage> {
  await using opening = new AsyncDisposableStack();
  const server = await startServerProcess(env);
  opening.defer(() => server.stop());
  const browser = await launchBrowser();
  opening.defer(() => browser.close());
  const opened = opening.move();
  return { server, browser, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** The tests that are defined with it, on one stage; left out where there is no browser. */
export function inBrowser<S extends AsyncDisposable>(
  open: () => Promise<S>,
  define: (stage: () => S) => void,
): void {
  if (noBrowser) console.warn(noBrowser);
  let opened: S;
  describe.skipIf(noBrowser)('in a browser', () => {
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.[Symbol.asyncDispose]());
    define(() => opened);
  });
}
