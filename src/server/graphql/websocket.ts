/** GraphQL over WebSocket, protocol graphql-transport-ws, on the gateway's own port. */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  handleProtocols,
  type WebSocket as LibrarySocket,
  MessageType,
  parseMessage,
} from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Config } from '../../config.ts';
import { holderOf, type ProcessShares } from '../../domain/viewer/share/process-shares.ts';
import { type Problem, problemOf } from '../../errors.ts';
import type { ClientAddresses } from '../http/client-address.ts';
import type { Cors } from '../http/cors.ts';
import type { GatewayUrl } from '../http/gateway-url.ts';
import { CLOSE, createSocketOperations, type OperationServices } from './socket-operations.ts';
import { createOutbox } from './socket-outbox.ts';
import { createUnauthenticatedSockets } from './unauthenticated-sockets.ts';

const MESSAGE_BYTES_MAX = 256 * 1024;
const PING_MS = 12_000;
/** The time for the closing handshake when the server closes a socket; then its connection is cut. */
const CLOSE_MS = 2_000;

export interface WebSocketServices extends OperationServices {
  config: Config;
  shares: ProcessShares;
  addresses: ClientAddresses;
  cors: Cors;
  gatewayUrl: GatewayUrl;
  pingMs?: number;
}

const FROM_SERVERS: ReadonlySet<MessageType> = new Set([
  MessageType.ConnectionAck,
  MessageType.Next,
  MessageType.Error,
]);

interface Upgrade {
  request: IncomingMessage;
  connection: Duplex;
  head: Buffer;
}

export interface WebSockets {
  /** Takes no more sockets and closes those that are open, so that their clients connect to another process. */
  stop(): Promise<void>;
}

export function attachWebSocket(server: Server, services: WebSocketServices): WebSockets {
  const { cors } = services;
  const sockets = new OpenSockets(services);
  const protocol = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES_MAX,
    handleProtocols,
  });
  let isStopping = false;
  const upgrade = ({ request, connection, head }: Upgrade, mayOpen: boolean) => {
    const refusal = isStopping ? STOPPING : (sockets.refusal ?? findRefusal(request, mayOpen));
    if (refusal) return refuseUpgrade(connection, refusal);
    protocol.handleUpgrade(request, connection, head, (socket) => sockets.open(socket, request));
  };
  server.on('upgrade', (request, connection, head) => {
    const wanted = { request, connection, head };
    const mayOpen = cors.mayOpenSocket(request.headers);
    if (typeof mayOpen === 'boolean') return upgrade(wanted, mayOpen);
    const ignore = () => {};
    connection.on('error', ignore);
    void mayOpen.then((may) => {
      connection.off('error', ignore);
      if (!connection.destroyed) upgrade(wanted, may);
    });
  });
  return {
    async stop() {
      isStopping = true;
      for (const socket of protocol.clients) {
        closeSoon(socket, CLOSE.goingAway, 'The server is stopping.');
      }
      await new Promise<void>((resolve) => protocol.close(() => resolve()));
    },
  };
}

const STOPPING = problemOf('SERVICE_UNAVAILABLE', 'The server is stopping. Connect again.', {
  retryAfterSeconds: 1,
});

/** The reason to refuse an upgrade. Null if its path and origin allow it. */
function findRefusal({ url = '' }: Pick<IncomingMessage, 'url'>, mayOpen: boolean): Problem | null {
  const path = url.split('?', 1)[0];
  if (path !== '/graphql')
    return problemOf('NOT_FOUND', `There is no WebSocket at ${path}. Open it at /graphql.`);
  if (mayOpen) return null;
  return problemOf(
    'FORBIDDEN',
    'Pages of this origin may not open a WebSocket here: neither allowedOrigins of a project nor CORS_ORIGINS of the server holds it.',
  );
}

/** Sends the problem as an HTTP response, and closes the connection. */
function refuseUpgrade(socket: Duplex, problem: Problem): void {
  const { status, retryAfterSeconds } = problem;
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(retryAfterSeconds === undefined ? [] : [`Retry-After: ${retryAfterSeconds}`]),
  ];
  socket.on('error', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** All sockets from their upgrade on. A connection_init with good credentials admits them. */
class OpenSockets {
  readonly #services: WebSocketServices;
  readonly #operations: ReturnType<typeof createSocketOperations>;
  readonly #strangers: ReturnType<typeof createUnauthenticatedSockets>;

  constructor(services: WebSocketServices) {
    this.#services = services;
    this.#operations = createSocketOperations(services);
    this.#strangers = createUnauthenticatedSockets(services.config, services.initMs);
  }

  /** Why no socket is opened now; null if there is room. */
  get refusal(): Problem | null {
    const { shares } = this.#services;
    const { held, max } = shares.of('sockets');
    return held < max ? null : shares.refusal('sockets', 'process').problem;
  }

  open(socket: WebSocket, request: IncomingMessage): void {
    const { log, addresses, cors, gatewayUrl, shares, pingMs = PING_MS } = this.#services;
    const connection = request.socket;
    const facts = {
      requestId: randomUUID(),
      address: addresses.of(request),
      page: cors.foreignPage(request.headers),
      gatewayUrl: gatewayUrl(request.headers),
    };
    const startedAt = performance.now();
    this.#strangers.enter(socket, { connection, address: facts.address });
    const outbox = createOutbox(socket, connection, () => socket.terminate());
    // The library closes the socket by itself, with a code that says why; this only keeps the process.
    socket.on('error', (error) => log.debug({ err: error, ...facts }, 'socket.failed'));
    const closed = this.#operations.opened(this.#wireOf(socket, outbox.send), {
      ...facts,
      socket,
      headers: request.headers,
      send: outbox.send,
      heard: () => this.#strangers.heard(socket),
      admitted: (viewer) => {
        // Its close event, which gives its share back, has come already.
        if (socket.readyState === socket.CLOSED) return;
        const holder = holderOf(viewer);
        shares.take('sockets', holder);
        socket.once('close', () => shares.of('sockets').release(holder));
        this.#strangers.leave(socket);
      },
    });
    const stopPinging = keepAlive(socket, pingMs);
    socket.once('close', (code, reason) => {
      stopPinging();
      this.#strangers.leave(socket);
      const ms = Math.round(performance.now() - startedAt);
      log.info({ ...facts, path: '/graphql', code, ms }, 'socket.closed');
      closed(code, String(reason)).catch((error: unknown) =>
        log.error({ err: error }, 'socket.failed'),
      );
    });
  }

  /** The socket as the protocol's library wants it. */
  #wireOf(socket: WebSocket, send: (message: string) => Promise<void>): LibrarySocket {
    return {
      protocol: socket.protocol,
      send,
      close: (code, reason) => socket.close(code, reason),
      onMessage: (take) => {
        socket.on('message', (data) => {
          const message = String(data);
          take(message).catch((error: unknown) => this.#refuse(socket, message, error));
        });
      },
    };
  }

  /** The library throws for well-formed messages that only a server sends, and for failures of the gateway. */
  #refuse(socket: WebSocket, message: string, error: unknown): void {
    if (FROM_SERVERS.has(parseMessage(message).type)) {
      socket.close(CLOSE.badRequest, 'Unexpected message');
      return;
    }
    this.#services.log.error({ err: error }, 'socket.failed');
    socket.close(CLOSE.internalError, 'Internal server error');
  }
}

/** A client that reads nothing does not read a close code either: its connection is cut. */
function closeSoon(socket: WebSocket, code: number, reason: string): void {
  socket.close(code, reason);
  const timer = setTimeout(() => socket.terminate(), CLOSE_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** Ends a socket that no longer answers: its client is gone, or reads too slowly to follow. */
function keepAlive(socket: WebSocket, pingMs: number): () => void {
  let hasAnswered = true;
  socket.on('pong', () => {
    hasAnswered = true;
  });
  const timer = setInterval(() => {
    if (socket.readyState !== socket.OPEN) return;
    if (!hasAnswered) return closeSoon(socket, CLOSE.tryAgainLater, 'No answer to a ping.');
    hasAnswered = false;
    socket.ping();
  }, pingMs);
  timer.unref();
  return () => clearInterval(timer);
}
