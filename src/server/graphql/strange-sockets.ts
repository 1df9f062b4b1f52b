/** WebSockets whose clients have not said who they are: they take no place of LIMIT_SOCKETS. */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Config } from '../../config.ts';
import { networkOf } from '../../domain/viewer/network.ts';
import { UnfinishedRoom } from '../http/unfinished.ts';
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
  return {
    leave: (socket) => room.leave(socket),
    enter(socket, { connection, address }) {
      const readBefore = connection.bytesRead;
      room.enter(socket, {
        network: networkOf(address),
        bytes: STRANGER_BYTES_MAX,
        isOver: () => socket.readyState === socket.CLOSED,
        isSlow: (elapsedMs) =>
          elapsedMs > initMs + FAREWELL_MS ||
          connection.bytesRead - readBefore > STRANGER_BYTES_MAX,
        cut: () => socket.terminate(),
      });
    },
  };
}
