/** The stage of these tests, with one page on an allowed origin. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openStage, type Stage, startDemo } from '../support/stage.ts';

export interface PagesStage extends Stage {
  /** The origin in CORS_ORIGINS. */
  allowedOrigin: string;
}

export interface EmptyPage extends AsyncDisposable {
  origin: string;
}

export async function openPagesStage(): Promise<PagesStage> {
  await using opening = new AsyncDisposableStack();
  const { origin: allowedOrigin } = opening.use(await serveEmptyPage());
  const stage = opening.use(await openStage(await startDemo({ CORS_ORIGINS: allowedOrigin })));
  const openedStage = opening.move();
  return { ...stage, allowedOrigin, [Symbol.asyncDispose]: () => openedStage.disposeAsync() };
}

/** Serves an empty page on an origin of its own. */
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
