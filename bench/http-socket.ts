/**
 * One keep-alive connection of the driver. It only finds the end of each response, because it shares the machine with the
 * measured server: a full HTTP client would take more CPU time than some of the servers.
 */
import { connect, type Socket } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const SUCCESSFUL_BODY = Buffer.from('{"data":{');
const CLOSED = 'The server closed the connection.';
const EMPTY = Buffer.alloc(0);
/** The length of a response whose head is incomplete. */
const UNKNOWN_LENGTH = -1;
/** The length of a chunked response, which ends with LAST_CHUNK. */
const CHUNKED = -2;

export interface HttpSocket {
  /** False if the server has closed the connection, as it does after a few idle seconds. */
  readonly isOpen: boolean;
  /** Sends one request and waits for its response. Throws if the status is not 200 or the response has no data. */
  send(request: Buffer): Promise<void>;
  close(): void;
}

export async function openHttpSocket(host: string, port: number): Promise<HttpSocket> {
  const socket = connect({ host, port, noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve).once('error', reject);
  });
  return createHttpSocket(socket);
}

function createHttpSocket(socket: Socket): HttpSocket {
  let pendingResponse: PromiseWithResolvers<void> | null = null;
  let received: Buffer = EMPTY;
  let length = UNKNOWN_LENGTH;

  const fail = (message: string) => {
    pendingResponse?.reject(new Error(message));
    pendingResponse = null;
  };
  socket.on('error', (error) => fail(error.message));
  socket.on('close', () => fail(CLOSED));
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    if (length === UNKNOWN_LENGTH) length = parseLength(received);
    if (length === UNKNOWN_LENGTH || received.length < length) return;
    if (length === CHUNKED && !received.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)) return;
    const response = received;
    received = EMPTY;
    length = UNKNOWN_LENGTH;
    if (!isExpected(response)) return fail(response.toString().slice(0, 1_000));
    const { resolve } = pendingResponse!;
    pendingResponse = null;
    resolve();
  });
  return {
    get isOpen() {
      return socket.writable;
    },
    send(request) {
      const pending = Promise.withResolvers<void>();
      pendingResponse = pending;
      if (socket.writable) socket.write(request);
      else fail(CLOSED);
      return pending.promise;
    },
    close: () => socket.destroy(),
  };
}

/** Returns the number of bytes of the head and the body together, UNKNOWN_LENGTH or CHUNKED. */
function parseLength(received: Buffer): number {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd < 0) return UNKNOWN_LENGTH;
  const head = received.toString('latin1', 0, headEnd).toLowerCase();
  const position = head.indexOf('content-length:');
  if (position < 0) return CHUNKED;
  return headEnd + HEAD_END.length + Number.parseInt(head.slice(position + 15), 10);
}

function isExpected(response: Buffer): boolean {
  return response.toString('latin1', 9, 12) === '200' && response.includes(SUCCESSFUL_BODY);
}
