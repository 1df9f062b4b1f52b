/** Shares one server with the demo and one browser among the tests of a file. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { createTestApp } from './app.ts';
import { browserSkipReason, launchBrowser } from './browser.ts';
import type { ServerProcess } from './process/server-process.ts';

export type StageServer = ServerProcess;

export interface Stage<Server extends StageServer = StageServer> extends AsyncDisposable {
  server: Server;
  browser: Browser;
}

export async function openStage<Server extends StageServer>(
  server: Server,
): Promise<Stage<Server>> {
  await using opening = new AsyncDisposableStack();
  opening.defer(() => server.stop());
  const browser = await launchBrowser();
  opening.defer(() => browser.close());
  const openedStage = opening.move();
  return { server, browser, [Symbol.asyncDispose]: () => openedStage.disposeAsync() };
}

export interface DemoServer extends StageServer {
  /** Returns a bearer token of a builder with this email address. */
  mintToken(email: string): Promise<string>;
}

/** The demo's scheduled reads start at multiples of this time. */
const SCHEDULE_MS = 10 * 60_000;

/** Returns a clock that stops before the next scheduled read, which would change lists and counts during a test. */
function createUnscheduledClock(): () => Date {
  const lastMs = Math.ceil(Date.now() / SCHEDULE_MS) * SCHEDULE_MS - 1;
  return () => new Date(Math.min(Date.now(), lastMs));
}

/** Starts the app with the demo in this process, which is faster than a separate process. It starts no scheduled read. */
export async function startDemo(env: Record<string, string> = {}): Promise<DemoServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-stage-'));
  const { app, ...testing } = await createTestApp({
    env: { DEMO: 'true', DATA_DIR: dataDir, ...env },
    now: createUnscheduledClock(),
  });
  await app.start();
  return {
    demo: JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')),
    mintToken(email) {
      const { mint } = app.verifier;
      if (!mint) throw new Error('The app has no local issuer.');
      return mint({ sub: email, email });
    },
    async stop() {
      await testing[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Defines tests that share one stage. Skips them if no browser is installed. */
export function describeInBrowser<S extends AsyncDisposable>(
  open: () => Promise<S>,
  define: (getStage: () => S) => void,
): void {
  if (browserSkipReason) console.warn(browserSkipReason);
  let openedStage: S;
  describe.skipIf(browserSkipReason)('in a browser', () => {
    beforeAll(async () => {
      openedStage = await open();
    });
    afterAll(() => openedStage?.[Symbol.asyncDispose]());
    define(() => openedStage);
  });
}
