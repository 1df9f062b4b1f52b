/** The stage of these tests. Its server has the demo, and runs only trusted documents. */
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { createDemoClient } from '../support/console.ts';
import {
  type DemoServer,
  openStage,
  type Stage,
  type StageServer,
  startDemo,
} from '../support/stage.ts';

export interface ConsoleStage<Server extends StageServer = StageServer> extends Stage<Server> {
  url: string;
  /** Sends queries with the demo's key. */
  api: ReturnType<typeof createDemoClient>;
  /** Opens a tab that is signed in. All of these tabs share a context. Close the tab: an open page follows all events. */
  openTab(): Promise<Page>;
  /**
   * Opens a signed-in context of its own, for tabs that are open at the same time. Chromium shares six connections to the
   * server among the tabs of a context, and the streams of a tab hold some of them.
   */
  openSignedInContext(): Promise<BrowserContext>;
  /** Opens a context without a sign-in. */
  openContext(options?: BrowserContextOptions): Promise<BrowserContext>;
}

const ENV = { TRUSTED_DOCUMENTS: 'only' };

/** Opens a stage whose server retries deliveries after these times. `settings` are further settings of the server. */
export const openConsoleStage = (
  retrySeconds: string,
  settings: Record<string, string> = {},
): Promise<ConsoleStage<DemoServer>> =>
  openConsoleStageOn((env) =>
    startDemo({ ...env, DELIVERY_RETRY_SECONDS: retrySeconds, ...settings }),
  );

export async function openConsoleStageOn<Server extends StageServer>(
  start: (env: Record<string, string>) => Promise<Server>,
): Promise<ConsoleStage<Server>> {
  const stage = await openStage(await start(ENV));
  const { url, apiKey, bearerToken } = stage.server.demo;
  const openContext = (options?: BrowserContextOptions) =>
    stage.browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const openSignedInContext = async () => {
    const context = await openContext();
    await context.addInitScript(
      (credential) => sessionStorage.setItem('gateway.credential', credential),
      bearerToken ?? apiKey,
    );
    return context;
  };
  // Chromium starts a process and compiles the console again for each context.
  const sharedContext = await openSignedInContext();
  // Chromium ends the process of a context with its last tab. Starting it takes a third of the CPU time of a page.
  await sharedContext.newPage();
  return {
    ...stage,
    url,
    api: createDemoClient(stage.server),
    openContext,
    openTab: () => sharedContext.newPage(),
    openSignedInContext,
  };
}
