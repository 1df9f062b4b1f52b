/**
 * Sends messages to one socket. While its buffer has space, messages are sent immediately, and otherwise one at a time.
 * Senders wait for their messages, so the subscription of a slow client leaves further events in the stored log.
 */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/** The maximum number of waiting messages: twice the operations of a socket, plus responses to pings. */
const WAITING_MAX = 256;

/** The bytes that are buffered for a socket before senders must wait. */
const BUFFERED_BYTES_MAX = 64 * 1024;

/** Sends a message. Resolves when the message is sent, or the socket closes. */
type Send = (message: string) => Promise<void>;

/**
 * Returns the function that sends messages. Calls `onOverflow` when too many messages wait. It must close the socket,
 * because later messages are dropped.
 */
export function createSend(socket: WebSocket, connection: Duplex, onOverflow: () => void): Send {
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  let waitingCount = 0;
  let lastSend: Promise<void> = Promise.resolve();

  const sendNow = (message: string) => {
    // A closing socket sends nothing. Its senders wait until it is closed, and so read no further events.
    if (socket.readyState !== socket.OPEN) return closed;
    if (socket.bufferedAmount < BUFFERED_BYTES_MAX) {
      combineWrites(connection);
      socket.send(message);
      return undefined;
    }
    return new Promise<void>((resolve) => socket.send(message, () => resolve()));
  };

  return async (message) => {
    if (waitingCount === 0 && socket.bufferedAmount < BUFFERED_BYTES_MAX) return sendNow(message);
    if (waitingCount >= WAITING_MAX) {
      onOverflow();
      return closed;
    }
    waitingCount += 1;
    lastSend = lastSend
      .then(() => sendNow(message))
      .then(() => {
        waitingCount -= 1;
      });
    return lastSend;
  };
}

/** Writes all messages of one turn of the event loop in one system call. */
function combineWrites(connection: Duplex): void {
  if (connection.writableCorked > 0) return;
  connection.cork();
  process.nextTick(() => connection.uncork());
}
