/** Bounds WebSockets that are not yet authenticated. LIMIT_SOCKETS counts them only after connection_init. */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Config } from '../../config.ts';
import { toNetwork } from '../../domain/viewer/network.ts';
import { UnfinishedBudget } from '../http/unfinished.ts';
import { CLOSE, INIT_MS } from './socket-operations.ts';

/**
 * The maximum number of bytes that an unauthenticated client may send. An upgrade and connection_init need far less.
 */
const UNAUTHENTICATED_BYTES_MAX = 64 * 1024;
/** How long the client may take to read the close code after the protocol's own timeout. */
const CLOSE_GRACE_MS = 1_000;

export function createUnauthenticatedSockets(
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

/** Sends the close code and ends the connection without waiting for the client. */
function closeAndCut(socket: WebSocket, connection: Socket): void {
  socket.close(
    CLOSE.tryAgainLater,
    'connection_init arrived too late. Connect again and send it immediately.',
  );
  connection.destroySoon();
}
