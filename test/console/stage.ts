/** What the console's tests share: one server with the demo, which runs trusted documents alone, and one browser. */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import { consoleApi } from '../support/console.ts';
import { type ServerProcess, startServerProcess } from '../support/process/server-process.ts';

export interface Stage extends AsyncDisposable {
  server: ServerProcess;
  browser: Browser;
  url: string;
  /** With the demo's key. */
  api: ReturnType<typeof consoleApi>;
  /** A tab of a person who has signed in, beside those of others. */
  openTab(options?: BrowserContextOptions): Promise<Page>;
  /** Nobody has signed in there. */
  openContext(options?: BrowserContextOptions): Promise<BrowserContext>;
}

export async function openStage(): Promise<Stage> {
  await using opening = new AsyncDisposableStack();
  const server = await startServerProcess({ TRUSTED_DOCUMENTS: 'only' });
  opening.defer(() => server.stop());
  const browser = await launchBrowser();
  opening.defer(() => browser.close());
  const { url, apiKey, bearerToken } = server.demo;
  const openContext = (options?: BrowserContextOptions) =>
    browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const opened = opening.move();
  return {
    server,
    browser,
    url,
    api: consoleApi(server),
    openContext,
    async openTab(options) {
      const context = await openContext(options);
      await context.addInitScript(
        (credential) => sessionStorage.setItem('gateway.credential', credential),
        bearerToken ?? apiKey,
      );
      return context.newPage();
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
