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

/** A text, or its consecutive parts in UTF-8. */
type SocketMessage = string | readonly Buffer[];

/** Sends a message. Resolves when the message is sent, or the socket closes. */
export type Send = (message: SocketMessage) => Promise<void>;

/**
 * Returns the function that sends messages. Calls `onOverflow` when too many messages wait. It must close the socket,
 * because later messages are dropped.
 */
export function createSend(socket: WebSocket, connection: Duplex, onOverflow: () => void): Send {
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  let waitingCount = 0;
  let lastSend: Promise<void> = Promise.resolve();

  const sendNow = (message: SocketMessage) => {
    // A closing socket sends nothing. Its senders wait until it is closed, and so read no further events.
    if (socket.readyState !== socket.OPEN) return closed;
    if (socket.bufferedAmount < BUFFERED_BYTES_MAX) {
      combineWrites(connection);
      sendMessage(socket, message);
      return undefined;
    }
    return new Promise<void>((resolve) => sendMessage(socket, message, () => resolve()));
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

/**
 * Sends each part as a frame of its own, because joining the parts of a long message would block the event loop. Sends all
 * frames in one turn of the event loop, because frames of two messages must not interleave.
 */
function sendMessage(socket: WebSocket, message: SocketMessage, onSent?: () => void): void {
  const parts = typeof message === 'string' ? [message] : message;
  for (const [index, part] of parts.entries()) {
    const fin = index === parts.length - 1;
    socket.send(part, { binary: false, fin }, fin ? onSent : undefined);
  }
}

/** Writes all messages of one turn of the event loop in one system call. */
function combineWrites(connection: Duplex): void {
  if (connection.writableCorked > 0) return;
  connection.cork();
  process.nextTick(() => connection.uncork());
}
