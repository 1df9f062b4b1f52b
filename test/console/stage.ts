/** The stage of these tests: its server has the demo, and runs trusted documents alone. */
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { consoleApi } from '../support/console.ts';
import { openStage, type Stage } from '../support/stage.ts';

export interface ConsoleStage extends Stage {
  url: string;
  /** With the demo's key. */
  api: ReturnType<typeof consoleApi>;
  /** A tab of a person who has signed in, beside those of others. */
  openTab(options?: BrowserContextOptions): Promise<Page>;
  /** Nobody has signed in there. */
  openContext(options?: BrowserContextOptions): Promise<BrowserContext>;
}

export async function openConsoleStage(): Promise<ConsoleStage> {
  const stage = await openStage({ TRUSTED_DOCUMENTS: 'only' });
  const { url, apiKey, bearerToken } = stage.server.demo;
  const openContext = (options?: BrowserContextOptions) =>
    stage.browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  return {
    ...stage,
    url,
    api: consoleApi(stage.server),
    openContext,
    async openTab(options) {
      const context = await openContext(options);
      await context.addInitScript(
        (credential) => sessionStorage.setItem('gateway.credential', credential),
        bearerToken ?? apiKey,
      );
      return context.newPage();
    },
  };
}
