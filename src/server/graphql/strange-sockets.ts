/** WebSockets whose clients have not said who they are: they take no place of LIMIT_SOCKETS. */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Config } from '../../config.ts';
import { networkOf } from '../../domain/viewer/network.ts';
import { UnfinishedRoom } from '../http/unfinished.ts';
import { CLOSE } from './close-codes.ts';
import { INIT_MS } from './socket-operations.ts';

/** Far more than an upgrade and connection_init take. */
const STRANGER_BYTES_MAX = 64 * 1024;
/** The protocol's own time is told by a close code, for which the client has a moment. */
const FAREWELL_MS = 1_000;

interface Stranger {
  connection: Socket;
  address: string;
}

export interface Strangers {
  enter(socket: WebSocket, stranger: Stranger): void;
  /** It has said who it is: from now on it waits for this side, which is not its fault. */
  heard(socket: WebSocket): void;
  /** It is none any more, or it is gone. */
  leave(socket: WebSocket): void;
}

export function createStrangers(
  { LIMIT_UNFINISHED, LIMIT_UNFINISHED_BYTES }: Config,
  initMs = INIT_MS,
): Strangers {
  const room = new UnfinishedRoom({
    networkMax: LIMIT_UNFINISHED,
    networkBytesMax: LIMIT_UNFINISHED_BYTES,
  });
  const waiting = new WeakSet<WebSocket>();
  return {
    heard: (socket) => void waiting.add(socket),
    leave: (socket) => room.leave(socket),
    enter(socket, { connection, address }) {
      const readBefore = connection.bytesRead;
      room.enter(socket, {
        network: networkOf(address),
        bytes: STRANGER_BYTES_MAX,
        isOver: () => socket.readyState === socket.CLOSED,
        isSlow: (elapsedMs) =>
          (elapsedMs > initMs + FAREWELL_MS && !waiting.has(socket)) ||
          connection.bytesRead - readBefore > STRANGER_BYTES_MAX,
        cut: () => cutOff(socket, connection),
      });
    },
  };
}

/** The code has left before the connection ends; nobody waits for an answer to it. */
function cutOff(socket: WebSocket, connection: Socket): void {
  socket.close(CLOSE.tryAgainLater, 'Say who you are, and sooner.');
  connection.destroySoon();
}
