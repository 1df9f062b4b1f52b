/**
 * One keep-alive connection of the driver. It only finds the end of each response, because it shares the machine with the
 * measured server: a full HTTP client would take more CPU time than some of the servers. Servers close connections that
 * are idle while others are measured. The driver then connects again, and repeats a request that got no response.
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
  /** Sends one request and waits for its response. Throws if the status is not 200 or the response has no data. */
  send(request: Buffer): Promise<void>;
  close(): void;
}

export async function openHttpSocket(host: string, port: number): Promise<HttpSocket> {
  let connection = await openConnection(host, port);
  const reopen = async () => {
    connection = await openConnection(host, port);
  };
  return {
    async send(request) {
      if (!connection.isOpen()) await reopen();
      const { wasUnanswered } = await connection.send(request);
      if (!wasUnanswered) return;
      await reopen();
      const repeated = await connection.send(request);
      if (repeated.wasUnanswered) throw new Error('The server closed the connection twice.');
    },
    close: () => connection.close(),
  };
}

interface Connection {
  isOpen(): boolean;
  /** `wasUnanswered` is true if the server closed the connection before the first byte of a response. */
  send(request: Buffer): Promise<{ wasUnanswered: boolean }>;
  close(): void;
}

async function openConnection(host: string, port: number): Promise<Connection> {
  const socket = connect({ host, port, noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve).once('error', reject);
  });
  return createConnection(socket);
}

function createConnection(socket: Socket): Connection {
  let pendingResponse: PromiseWithResolvers<{ wasUnanswered: boolean }> | null = null;
  let received: Buffer = EMPTY;
  let length = UNKNOWN_LENGTH;

  const fail = (message: string) => {
    if (received.length === 0 && message === CLOSED)
      pendingResponse?.resolve({ wasUnanswered: true });
    else pendingResponse?.reject(new Error(message));
    pendingResponse = null;
  };
  // The event `close` follows.
  socket.on('error', () => {});
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
    resolve({ wasUnanswered: false });
  });
  return {
    isOpen: () => socket.writable,
    send(request) {
      const pending = Promise.withResolvers<{ wasUnanswered: boolean }>();
      pendingResponse = pending;
      socket.write(request);
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
