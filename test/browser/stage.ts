/** What the tests in a browser share: one server with the demo, one browser, and a page that the operator allows. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import { type ServerProcess, startServerProcess } from '../support/process/server-process.ts';

export interface Stage extends AsyncDisposable {
  server: ServerProcess;
  browser: Browser;
  /** Of CORS_ORIGINS. */
  allowedOrigin: string;
}

export interface EmptyPage extends AsyncDisposable {
  origin: string;
}

export async function openStage(): Promise<Stage> {
  await using opening = new AsyncDisposableStack();
  const { origin: allowedOrigin } = opening.use(await serveEmptyPage());
  const server = await startServerProcess({ CORS_ORIGINS: allowedOrigin });
  opening.defer(() => server.stop());
  const browser = await launchBrowser();
  opening.defer(() => browser.close());
  const opened = opening.move();
  return {
    server,
    browser,
    allowedOrigin,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** A page without content, on an origin of its own. */
export async function serveEmptyPage(): Promise<EmptyPage> {
  const server = createServer((_req, res) => {
    res.setHeader('content-type', 'text/html').end('<!doctype html><title>Builder</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
