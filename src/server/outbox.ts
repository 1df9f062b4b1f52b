/**
 * What goes out over one socket: a message at a time, the next when the last has left the process. Who
 * sends waits for it, so that a subscription of a slow client is not read on: it waits in the stored log.
 */
import type { WebSocket } from 'ws';

/** Twice the operations of a socket, and room for answers to pings: more is a client that doesn't read. */
const MOST_WAITING = 256;

export interface Outbox {
  /** Resolves when the message has left, or the socket is closed. */
  send(message: string): Promise<void>;
}

/** onOverflow is called when too many messages wait; what is sent then is lost with the socket. */
export function createOutbox(socket: WebSocket, onOverflow: () => void): Outbox {
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  let waiting = 0;
  let last: Promise<void> = Promise.resolve();

  const sendNow = (message: string) => {
    // To go on at once would read the log to its end for nobody.
    if (socket.readyState !== socket.OPEN) return closed;
    return new Promise<void>((resolve) => socket.send(message, () => resolve()));
  };

  return {
    send(message) {
      if (waiting >= MOST_WAITING) {
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
