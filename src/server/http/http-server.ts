/** The port, the connections to it, and how they end. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Headers that take longer are an attack or a broken client. */
const HEADERS_TIMEOUT_MS = 10_000;
/** Node looks for such connections this often. */
const LOOK_MS = 2_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** Longer than proxies and clients keep a quiet connection: who closes first must not be the one who is asked. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

/** While the server stops, connections that have become quiet are closed so often. */
const CLOSE_IDLE_MS = 100;

/** Connections that wait while the server is busy: a burst of clients is to be answered, not reset. */
const BACKLOG_MAX = 4_096;

export interface Listening {
  url: string;
  server: Server;
  /** Takes no new connections, waits for what is running, and after the time cuts what is left. */
  stop(withinMs: number): Promise<void>;
}

export interface ListenOptions {
  host: string;
  port: number;
  /** False where no listener of upgrades answers them. */
  takesSockets?: boolean;
}

export async function listen(
  handler: RequestListener,
  { host, port, takesSockets = true }: ListenOptions,
): Promise<Listening> {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: LOOK_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      // An offer of HTTP/2 is no wish for a WebSocket: the request is answered as it is. So is one for a
      // WebSocket where nobody takes it, which would be left open otherwise.
      shouldUpgradeCallback: ({ headers }: IncomingMessage) =>
        takesSockets && headers.upgrade?.toLowerCase() === 'websocket',
    },
    handler,
  );
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ port, host, backlog: BACKLOG_MAX }, resolve);
  await promise;
  const { port: taken, address, family } = server.address() as AddressInfo;
  const name = family === 'IPv6' ? `[${address}]` : address;
  return {
    url: `http://${name}:${taken}`,
    server,
    async stop(withinMs) {
      // A client that asks on and on is told to take another connection, which leads to another server.
      server.prependListener('request', (_request, response) => {
        response.shouldKeepAlive = false;
      });
      const closed = new Promise<void>((done) => server.close(() => done()));
      const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_MS);
      const timer = setTimeout(() => server.closeAllConnections(), withinMs);
      await closed;
      clearInterval(idle);
      clearTimeout(timer);
    },
  };
}
