/** The port, the connections to it, and how they end. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { problemOf } from '../../errors.ts';

/** Headers that take longer are an attack or a broken client. */
const HEADERS_TIMEOUT_MS = 10_000;
/** Node looks for such connections this often. */
const LOOK_MS = 2_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** Longer than proxies and clients keep a quiet connection: if the server closed first, it could cut a request. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

/** While the server stops, it closes idle connections at this interval. */
const CLOSE_IDLE_MS = 100;

/** Connections that wait while the server is busy: a burst of clients is answered, not reset. */
const BACKLOG_MAX = 4_096;

export interface Listening {
  url: string;
  server: Server;
  /** Asks clients to open their next connection elsewhere; whoever comes is still answered. */
  drain(): void;
  /** Takes no new connections, waits for running requests, and after the time cuts the rest. */
  stop(withinMs: number): Promise<void>;
}

export interface ListenOptions {
  host: string;
  port: number;
  /** False if no listener answers upgrades. */
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
      // An upgrade to HTTP/2 is only an offer: the request is answered as HTTP/1.1. So is a WebSocket upgrade that
      // no listener takes, which would stay open otherwise.
      shouldUpgradeCallback: ({ headers }: IncomingMessage) =>
        takesSockets && headers.upgrade?.toLowerCase() === 'websocket',
    },
    (req, res) => (req.httpVersion === '0.9' ? refuseVersion(req, res) : handler(req, res)),
  );
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ port, host, backlog: BACKLOG_MAX }, resolve);
  await promise;
  const { port: taken, address, family } = server.address() as AddressInfo;
  const name = family === 'IPv6' ? `[${address}]` : address;
  let isDraining = false;
  const drain = () => {
    if (isDraining) return;
    isDraining = true;
    server.prependListener('request', (_request, response) => {
      response.shouldKeepAlive = false;
    });
  };
  return {
    url: `http://${name}:${taken}`,
    server,
    drain,
    async stop(withinMs) {
      // A client that keeps a connection busy is told to open another one, which leads to another server.
      drain();
      const closed = new Promise<void>((done) => server.close(() => done()));
      const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_MS);
      const timer = setTimeout(() => server.closeAllConnections(), withinMs);
      await closed;
      clearInterval(idle);
      clearTimeout(timer);
    },
  };
}

/** HTTP/0.9 has no headers, so its responses can't say what they are. */
function refuseVersion({ socket }: IncomingMessage, res: ServerResponse): void {
  const detail = 'HTTP/0.9 is not supported. Use HTTP/1.1.';
  const body = JSON.stringify(problemOf('BAD_USER_INPUT', detail, { status: 505 }));
  res.writeHead(505, {
    connection: 'close',
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
  });
  res.end(body, () => socket.destroySoon());
}
