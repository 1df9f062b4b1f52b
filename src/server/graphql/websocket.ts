/** GraphQL over WebSockets, with the protocol graphql-transport-ws, on the gateway's port. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import {
  CloseCode,
  handleProtocols,
  type WebSocket as LibrarySocket,
  MessageType,
  parseMessage,
} from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { toNetwork } from '../../domain/access/viewer/network.ts';
import { type ProcessShares, toHolder } from '../../domain/access/viewer/share/process-shares.ts';
import type { Viewer } from '../../domain/access/viewer/viewer.ts';
import { createProblem, DomainError, type Problem, rateLimited } from '../../kernel/errors.ts';
import type { Config } from '../../settings/config.ts';
import { Pacer } from '../../work/pace.ts';
import type { ClientReaders } from '../http/request-client.ts';
import { hasOpenResponse, sendProblemAndClose } from '../http/socket-problems.ts';
import { UnfinishedBudget } from '../http/unfinished.ts';
import { countRequests, MessageRate } from './message-rate.ts';
import {
  CLOSE,
  createCloseReason,
  createSocketOperations,
  INIT_MS,
  type OperationServices,
} from './socket-operations.ts';
import { createSend, type Send } from './socket-outbox.ts';
import { EARLY_CLOSE_MS, SocketPace, WAIT_MAX_MS } from './socket-pace.ts';

const MESSAGE_BYTES_MAX = 256 * 1024;
const PING_MS = 12_000;
/** Time limit of the closing handshake, after which the connection is cut. */
const CLOSE_MS = 2_000;

/** The messages of all sockets that one turn of the event loop handles: 16 small ones, or a large one. */
const REQUESTS_PER_TURN = 16;
/** Opening a socket takes as long as handling this number of small messages. */
const REQUESTS_PER_OPENING = 4;

interface WebSocketServices extends OperationServices, Pick<ClientReaders, 'cors' | 'readClient'> {
  config: Config;
  shares: ProcessShares;
  pingMs?: number;
}

const SERVER_MESSAGE_TYPES: ReadonlySet<MessageType> = new Set([
  MessageType.ConnectionAck,
  MessageType.Next,
  MessageType.Error,
]);

interface WebSockets {
  /** Refuses new sockets and closes open ones, so that their clients connect to another process. */
  stop(): Promise<void>;
}

export function attachWebSocket(server: Server, services: WebSocketServices): WebSockets {
  const { cors } = services;
  const sockets = new OpenSockets(services);
  const protocol = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES_MAX,
    handleProtocols,
    // Each message gets a turn of the event loop, so that other clients' requests run in between.
    allowSynchronousEvents: false,
  });
  let isStopping = false;
  server.on('upgrade', async (request, connection, head) => {
    // The client would read the response to the upgrade as a part of the open response.
    if (hasOpenResponse(connection)) return void connection.destroy();
    const ignore = () => {};
    connection.on('error', ignore);
    const crowdedRefusal = await sockets.waitToOpen(request);
    const mayOpen = crowdedRefusal === null && (await cors.mayOpenSocket(request.headers));
    connection.off('error', ignore);
    if (connection.destroyed) return;
    const refusal = isStopping
      ? createStoppingProblem()
      : (crowdedRefusal ?? sockets.findRefusal() ?? findRefusal(request, mayOpen));
    if (refusal) return sendProblemAndClose(connection, refusal);
    protocol.handleUpgrade(request, connection, head, (socket) => sockets.open(socket, request));
  });
  return {
    async stop() {
      isStopping = true;
      for (const socket of protocol.clients) {
        closeOrTerminate(socket, CLOSE.goingAway, 'The server is stopping.');
      }
      await new Promise<void>((resolve) => protocol.close(() => resolve()));
    },
  };
}

function createStoppingProblem(): Problem {
  const detail = 'The server is stopping. Connect again.';
  return createProblem('SERVICE_UNAVAILABLE', detail, { retryAfterSeconds: 1 });
}

/** Returns the reason to refuse an upgrade. Null if the path and the origin are permitted. */
function findRefusal(request: Pick<IncomingMessage, 'url'>, mayOpen: boolean): Problem | null {
  const path = readPath(request);
  if (path !== '/graphql' && findProject(path) === undefined) {
    const detail = `There is no WebSocket at ${path}. Open it at /graphql or /graphql/projects/{projectIdOrName}.`;
    return createProblem('NOT_FOUND', detail);
  }
  if (mayOpen) return null;
  return createProblem(
    'FORBIDDEN',
    'Pages of this origin may not open a WebSocket here: add it to allowedOrigins of the project or to CORS_ORIGINS of the server.',
  );
}

function readPath({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  return url.split('?', 1)[0] ?? '';
}

/** Returns the project in the path of a typed API. Undefined for any other path. */
function findProject(path: string): string | undefined {
  const [, encoded = ''] = /^\/graphql\/projects\/([^/]+)\/?$/.exec(path) ?? [];
  try {
    return decodeURIComponent(encoded) || undefined;
  } catch {
    return undefined;
  }
}

/** The open sockets. A socket is admitted by a connection_init with valid credentials. */
class OpenSockets {
  readonly #services: WebSocketServices;
  readonly #operations: ReturnType<typeof createSocketOperations>;
  readonly #unauthenticatedSockets: ReturnType<typeof createUnauthenticatedSockets>;
  readonly #pace = new SocketPace();
  readonly #pacer = new Pacer(REQUESTS_PER_TURN);

  constructor(services: WebSocketServices) {
    this.#services = services;
    this.#operations = createSocketOperations(services);
    this.#unauthenticatedSockets = createUnauthenticatedSockets(services.config, services.initMs);
  }

  /** Returns the reason to refuse all new sockets. Null if the limit is not reached. */
  findRefusal(): Problem | null {
    const { shares } = this.#services;
    const { held, max } = shares.get('sockets');
    return held < max ? null : shares.createLimitError('sockets', 'process').problem;
  }

  /**
   * Waits while sockets of the client's network are cut or closed early, and then for a turn of the event loop that has
   * opened few others. Returns the reason to refuse the socket if too many wait.
   */
  async waitToOpen(request: IncomingMessage): Promise<Problem | null> {
    const { address } = this.#services.readClient(request);
    const waitMs = this.#pace.reserve(toNetworkHolder(address));
    if (waitMs === null) return createCrowdedProblem();
    if (waitMs > 0) await wait(waitMs);
    await this.#pacer.createPace().waitForAllowance(REQUESTS_PER_OPENING);
    return null;
  }

  open(socket: WebSocket, request: IncomingMessage): void {
    const { log, admission, readClient, pingMs = PING_MS } = this.#services;
    const connection = request.socket;
    const path = readPath(request);
    const { session, ...client } = readClient(request);
    const metadata = { requestId: randomUUID(), projectIdOrName: findProject(path), ...client };
    const startedAt = performance.now();
    this.#unauthenticatedSockets.enter(socket, { connection, address: metadata.address });
    const holders = [toNetworkHolder(metadata.address)];
    const cut = (error: DomainError) => {
      for (const holder of holders.slice(1)) this.#pace.recordCut(holder);
      cutSocket(socket, error);
    };
    const rate = new MessageRate(admission.spend, cut);
    const send = createSend(socket, connection, () => cut(createUnreadError()));
    // The library itself closes the socket with a code for the error. Without this listener the error would end the
    // process.
    socket.on('error', (error) => log.debug({ err: error, ...metadata }, 'socket.failed'));
    const notifyClosed = this.#operations.opened(this.#toLibrarySocket(socket, send, rate), {
      ...metadata,
      socket,
      headers: request.headers,
      session,
      send,
      onInitReceived: () => this.#unauthenticatedSockets.markInitReceived(socket),
      admit: async (viewer) => {
        holders.push(viewer.id);
        await this.#waitForCaller(viewer);
        this.#take(socket, viewer);
        rate.admit(viewer);
      },
    });
    const stopPinging = pingRegularly(socket, pingMs);
    socket.once('close', (code, reason) => {
      stopPinging();
      this.#unauthenticatedSockets.leave(socket);
      const durationMs = Math.round(performance.now() - startedAt);
      if (durationMs < EARLY_CLOSE_MS)
        for (const holder of holders) this.#pace.recordEarlyClose(holder);
      log.info({ ...metadata, path, code, durationMs }, 'socket.closed');
      notifyClosed(code, String(reason)).catch((error: unknown) =>
        log.error({ err: error }, 'socket.failed'),
      );
    });
  }

  /** Waits while sockets of the caller are cut or closed early. Throws RATE_LIMITED if too many wait. */
  async #waitForCaller({ id }: Viewer): Promise<void> {
    const waitMs = this.#pace.reserve(id);
    if (waitMs === null) throw createReopenedError();
    if (waitMs > 0) await wait(waitMs);
  }

  /** Takes the share of an admitted socket until it closes. */
  #take(socket: WebSocket, viewer: Viewer): void {
    const { shares } = this.#services;
    // After the close event, nothing would release the share.
    if (socket.readyState === socket.CLOSED) return;
    const holder = toHolder(viewer);
    shares.take('sockets', holder);
    socket.once('close', () => shares.get('sockets').release(holder));
    this.#unauthenticatedSockets.leave(socket);
  }

  /** Adapts the socket to the interface that the protocol's library requires. */
  #toLibrarySocket(socket: WebSocket, send: Send, rate: MessageRate): LibrarySocket {
    return {
      protocol: socket.protocol,
      send,
      close: (code, reason) => socket.close(code, reason),
      onMessage: (listener) => {
        const handle = (data: Buffer) => {
          // A socket that was cut may still emit messages that have arrived.
          if (socket.readyState !== socket.OPEN) return;
          const message = String(data);
          listener(message).catch((error: unknown) => this.#refuse(socket, message, error));
        };
        socket.on('message', (data: Buffer) => {
          if (socket.readyState !== socket.OPEN) return;
          const requests = countRequests(data.length);
          rate.count(requests);
          const wait = this.#pacer.createPace().waitForAllowance(requests);
          if (!wait) return handle(data);
          socket.pause();
          void wait.then(() => {
            if (socket.readyState === socket.OPEN) socket.resume();
            handle(data);
          });
        });
      },
    };
  }

  /**
   * Closes a socket after the library threw. It throws for well-formed messages that only a server may send, and for
   * failures of the gateway.
   */
  #refuse(socket: WebSocket, message: string, error: unknown): void {
    if (SERVER_MESSAGE_TYPES.has(parseMessage(message).type)) {
      socket.close(CloseCode.BadRequest, 'Unexpected message');
      return;
    }
    this.#services.log.error({ err: error }, 'socket.failed');
    socket.close(CloseCode.InternalServerError, 'Internal server error');
  }
}

/**
 * The maximum number of bytes that an unauthenticated client may send. An upgrade and connection_init need far less.
 */
const UNAUTHENTICATED_BYTES_MAX = 64 * 1024;
/** How long the client may take to read the close code after the protocol's own timeout. */
const CLOSE_GRACE_MS = 1_000;

/** Bounds sockets that are not yet authenticated. LIMIT_SOCKETS counts them only after connection_init. */
function createUnauthenticatedSockets(
  { LIMIT_UNFINISHED, LIMIT_UNFINISHED_BYTES }: Config,
  initMs = INIT_MS,
) {
  const budget = new UnfinishedBudget({
    networkMax: LIMIT_UNFINISHED,
    networkBytesMax: LIMIT_UNFINISHED_BYTES,
  });
  const initializedSockets = new WeakSet<WebSocket>();
  return {
    enter(socket: WebSocket, client: { connection: Socket; address: string }): void {
      const { connection, address } = client;
      const bytesReadBefore = connection.bytesRead;
      budget.enter(socket, {
        network: toNetwork(address),
        bytes: UNAUTHENTICATED_BYTES_MAX,
        hasEnded: () => socket.readyState === socket.CLOSED,
        isSlow: (elapsedMs) =>
          (elapsedMs > initMs + CLOSE_GRACE_MS && !initializedSockets.has(socket)) ||
          connection.bytesRead - bytesReadBefore > UNAUTHENTICATED_BYTES_MAX,
        cut: () => closeAndCut(socket, connection),
      });
    },
    /**
     * Call when connection_init has arrived. The socket is then no longer slow, because its client waits for the
     * server.
     */
    markInitReceived: (socket: WebSocket): void => void initializedSockets.add(socket),
    /** Call when the socket is admitted or closed. */
    leave: (socket: WebSocket): void => void budget.leave(socket),
  };
}

function toNetworkHolder(address: string): string {
  return `network ${toNetwork(address)}`;
}

const WAIT_MAX_SECONDS = WAIT_MAX_MS / 1_000;

function createReopenedError(): DomainError {
  const detail = 'Sockets of this caller were cut, or closed early. Connect again later.';
  const extra = { limit: 'reopened sockets', retryAfterSeconds: WAIT_MAX_SECONDS };
  return new DomainError('RATE_LIMITED', detail, extra);
}

/** Returns SERVICE_UNAVAILABLE, not RATE_LIMITED, because other clients of the network may have caused it. */
function createCrowdedProblem(): Problem {
  const detail = 'Too many sockets of this network were closed early. Connect again later.';
  return createProblem('SERVICE_UNAVAILABLE', detail, { retryAfterSeconds: WAIT_MAX_SECONDS });
}

function createUnreadError(): DomainError {
  return rateLimited('Read the responses. Too many of them wait to be read.', 1);
}

/**
 * Closes a socket and reads nothing more from it. The connection stays open for CLOSE_MS, because a closed connection
 * with unread messages would discard the close code on its way to the client.
 */
function cutSocket(socket: WebSocket, error: DomainError): void {
  closeOrTerminate(socket, CLOSE.tryAgainLater, createCloseReason(error));
  socket.pause();
}

/** Sends the close code and ends the connection without waiting for the client. */
function closeAndCut(socket: WebSocket, connection: Socket): void {
  socket.close(
    CLOSE.tryAgainLater,
    'connection_init arrived too late. Connect again and send it immediately.',
  );
  connection.destroySoon();
}

/** Closes a socket, and cuts its connection if the client does not complete the handshake within CLOSE_MS. */
function closeOrTerminate(socket: WebSocket, code: number, reason: string): void {
  socket.close(code, reason);
  const timer = setTimeout(() => socket.terminate(), CLOSE_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** Closes a socket that does not respond to pings. Its client is gone, or reads too slowly. */
function pingRegularly(socket: WebSocket, pingMs: number): () => void {
  let hasResponded = true;
  socket.on('pong', () => {
    hasResponded = true;
  });
  const timer = setInterval(() => {
    if (socket.readyState !== socket.OPEN) return;
    if (!hasResponded)
      return closeOrTerminate(socket, CLOSE.tryAgainLater, 'No response to a ping.');
    hasResponded = false;
    socket.ping();
  }, pingMs);
  timer.unref();
  return () => clearInterval(timer);
}
