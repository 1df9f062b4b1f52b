/**
 * The messages to one socket. They are sent at once while its buffer has room, then one at a time. A sender waits
 * for its message, so a subscription of a slow client reads no further events: they wait in the stored log.
 */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/** Twice the operations of a socket, and room for answers to pings: if more messages wait, the client doesn't read. */
const WAITING_MAX = 256;

export interface Outbox {
  /** Resolves when the message is sent, or the socket is closed. */
  send(message: string): Promise<void>;
}

/** The bytes that the process holds for a socket before senders wait. */
const BUFFERED_BYTES_MAX = 64 * 1024;

/** onOverflow is called when too many messages wait; later ones are dropped with the socket. */
export function createOutbox(
  socket: WebSocket,
  connection: Duplex,
  onOverflow: () => void,
): Outbox {
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  let waiting = 0;
  let last: Promise<void> = Promise.resolve();

  const sendNow = (message: string) => {
    // If senders went on, they would read the log to its end for a client that has gone.
    if (socket.readyState !== socket.OPEN) return closed;
    if (socket.bufferedAmount < BUFFERED_BYTES_MAX) {
      leaveTogether(connection);
      socket.send(message);
      return undefined;
    }
    return new Promise<void>((resolve) => socket.send(message, () => resolve()));
  };

  return {
    async send(message) {
      if (waiting === 0 && socket.bufferedAmount < BUFFERED_BYTES_MAX) return sendNow(message);
      if (waiting >= WAITING_MAX) {
        onOverflow();
        return closed;
      }
      waiting += 1;
      last = last
        .then(() => sendNow(message))
        .then(() => {
          waiting -= 1;
        });
      return last;
    },
  };
}

/** What is sent in this turn of the event loop leaves the process by one call of the system. */
function leaveTogether(connection: Duplex): void {
  if (connection.writableCorked > 0) return;
  connection.cork();
  process.nextTick(() => connection.uncork());
}
