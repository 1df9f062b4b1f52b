/** GraphQL over WebSocket, protocol graphql-transport-ws, on the gateway's own port. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import { handleProtocols } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Config } from '../../config.ts';
import type { ClientAddresses } from '../http/client-address.ts';
import { CLOSE } from './close-codes.ts';
import {
  createSocketOperations,
  type OperationServices,
  TOO_MANY_SOCKETS,
} from './socket-operations.ts';
import { createOutbox } from './socket-outbox.ts';
import { createStrangers } from './strange-sockets.ts';
import { findRefusal, refuseUpgrade } from './upgrade-rules.ts';

const MOST_MESSAGE_BYTES = 256 * 1024;
const PING_MS = 12_000;
/** For the farewell of a socket that the server closes; then its connection is cut. */
const CLOSE_MS = 2_000;

export interface WebSocketServices extends OperationServices {
  config: Config;
  addresses: ClientAddresses;
  pingMs?: number;
}

export interface WebSockets {
  /** Takes no more sockets and closes those that are open, so that their clients come again elsewhere. */
  stop(): Promise<void>;
}

export function attachWebSocket(server: Server, services: WebSocketServices): WebSockets {
  const { config, log, addresses, pingMs = PING_MS } = services;
  const operations = createSocketOperations(services);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MOST_MESSAGE_BYTES,
    handleProtocols,
  });
  const strangers = createStrangers(config, services.initMs);
  const admitted = new Set<WebSocket>();
  const isFull = () => admitted.size >= config.LIMIT_SOCKETS;
  let isStopping = false;

  const open = (socket: WebSocket, request: IncomingMessage) => {
    const { headers, socket: connection } = request;
    const startedAt = performance.now();
    const requestId = randomUUID();
    const address = addresses.of(request);
    strangers.enter(socket, { connection, address });
    const outbox = createOutbox(socket, connection, () => socket.terminate());
    // The library closes the socket by itself, with a code that says why; this only keeps the process.
    socket.on('error', (error) => log.debug({ err: error, requestId }, 'socket error'));
    const closed = operations.opened(
      {
        protocol: socket.protocol,
        send: outbox.send,
        close: (code, reason) => socket.close(code, reason),
        onMessage: (take) => {
          socket.on('message', (data) => {
            take(String(data)).catch((error: unknown) => refuseMessage(socket, error));
          });
        },
      },
      {
        socket,
        headers,
        requestId,
        address,
        send: outbox.send,
        admitted() {
          strangers.leave(socket);
          if (isFull()) return false;
          admitted.add(socket);
          return true;
        },
      },
    );
    const stopPinging = keepAlive(socket, pingMs);
    socket.once('close', (code, reason) => {
      stopPinging();
      strangers.leave(socket);
      admitted.delete(socket);
      const ms = Math.round(performance.now() - startedAt);
      log.info({ requestId, address, path: '/graphql', code, ms }, 'socket closed');
      closed(code, String(reason)).catch((error: unknown) => log.error({ err: error }, 'socket'));
    });
  };

  const refuseMessage = (socket: WebSocket, error: unknown) => {
    const isUnexpected = error instanceof Error && error.message.startsWith('Unexpected message');
    if (isUnexpected) return socket.close(CLOSE.badRequest, 'Unexpected message');
    log.error({ err: error }, 'internal error on a socket');
    socket.close(CLOSE.internalError, 'Internal server error');
  };

  server.on('upgrade', (request, connection, head) => {
    const refusal =
      isStopping || isFull()
        ? ({ status: 503, detail: TOO_MANY_SOCKETS } as const)
        : findRefusal(request, config);
    if (refusal) refuseUpgrade(connection, refusal);
    else sockets.handleUpgrade(request, connection, head, (socket) => open(socket, request));
  });

  return {
    async stop() {
      isStopping = true;
      for (const socket of sockets.clients) {
        closeSoon(socket, CLOSE.goingAway, 'The server is stopping.');
      }
      await new Promise<void>((resolve) => sockets.close(() => resolve()));
    },
  };
}

/** A client that reads nothing does not hear of it either: its connection is cut. */
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
