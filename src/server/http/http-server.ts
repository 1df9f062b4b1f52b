/**
 * Creates the HTTP server: Fastify on node:http, with time limits for connections and requests, and a graceful stop.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastify, { type FastifyHttpOptions, type FastifyInstance } from 'fastify';
import { refuseUnreadable, trackResponse } from './socket-problems.ts';

/** The interval at which Node cuts slow heads and requests. */
const CHECK_MS = 500;
/** Time limit of a request after its head. */
const BODY_TIMEOUT_MS = 60_000;
/** Longer than proxies and clients keep idle connections, because the side that closes first may cut a request. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** The interval at which a stopping server closes idle connections. */
const CLOSE_IDLE_MS = 100;
/** The maximum number of waiting connections while the server is busy, so that a burst of clients is not reset. */
const BACKLOG_MAX = 4_096;

export interface HttpServer {
  /** Accepts hooks and routes until `listen`. */
  app: FastifyInstance;
  /** Returns the URL of the port. */
  listen(address: { host: string; port: number }): Promise<string>;
  /** Closes each connection after its next response, so that clients reconnect to another process. */
  drain(): void;
  /** Accepts no new connections, waits for running requests, and cuts those that exceed the time. */
  stop(withinMs: number): Promise<void>;
}

interface HttpServerOptions extends FastifyHttpOptions<FastifyInstance['server']> {
  /** False if no listener takes upgrades to WebSockets. */
  takesSockets?: boolean;
  /** Time limit for the head of a request, from the connection or from its first byte. */
  headMs?: number;
}

export function createHttpServer({
  takesSockets = true,
  headMs = 5_000,
  ...options
}: HttpServerOptions = {}): HttpServer {
  const requestTimeout = headMs + BODY_TIMEOUT_MS;
  const app = fastify({
    ...options,
    requestTimeout,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // The server completes requests that are in progress when it stops.
    return503OnClosing: false,
    clientErrorHandler: refuseUnreadable,
    http: {
      headersTimeout: headMs,
      requestTimeout,
      connectionsCheckingInterval: CHECK_MS,
      // The server ignores offers to upgrade to HTTP/2 and responds in HTTP/1.1. It also ignores WebSocket upgrades if it
      // has no listener for them, because their connections would stay open.
      shouldUpgradeCallback: ({ headers }: IncomingMessage) =>
        takesSockets && headers.upgrade?.toLowerCase() === 'websocket',
    },
  });
  const { server } = app;
  let isDraining = false;
  // Runs before Fastify, whose hooks would cost each request more.
  server.prependListener('request', (_request, response) => {
    trackResponse(response);
    if (isDraining) response.setHeader('connection', 'close');
  });
  const drain = () => {
    isDraining = true;
  };
  return {
    app,
    drain,
    async listen({ host, port }) {
      await app.ready();
      // For localhost, `app.listen` would open a second server, for which `stop` would not wait.
      server.listen({ host, port, backlog: BACKLOG_MAX });
      await once(server, 'listening');
      return formatUrl(server.address() as AddressInfo);
    },
    async stop(withinMs) {
      drain();
      const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_MS);
      const timer = setTimeout(() => server.closeAllConnections(), withinMs);
      await app.close();
      clearInterval(idle);
      clearTimeout(timer);
    },
  };
}

function formatUrl({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
