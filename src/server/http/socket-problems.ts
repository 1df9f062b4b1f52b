/** Sends problem documents to connections whose request Fastify does not handle. */
import { maxHeaderSize, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { createProblem, type Problem } from '../../errors.ts';

/** Sends the problem as an HTTP response and closes the connection. */
export function sendProblemAndClose(socket: Duplex, problem: Problem): void {
  const { status, retryAfterSeconds } = problem;
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(retryAfterSeconds === undefined ? [] : [`Retry-After: ${retryAfterSeconds}`]),
  ];
  socket.on('error', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** Refusals by Node's HTTP parser, by its error codes. */
const REFUSALS: Record<string, { status: number; detail: string }> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    detail: 'The request was not complete in time. Send its head within LIMIT_HEAD_MS.',
  },
  HPE_HEADER_OVERFLOW: {
    status: 431,
    detail: `The path and the headers together exceed ${maxHeaderSize} bytes.`,
  },
};
const MALFORMED = { status: 400, detail: 'The request is not valid HTTP/1.1.' };

/** Refuses a request that Node's HTTP parser can't read. Node calls it again for further bytes of the connection. */
export function refuseUnreadable({ code = '' }: { code?: string }, socket: Duplex): void {
  if (!socket.writable) return;
  const { status, detail } = REFUSALS[code] ?? MALFORMED;
  sendProblemAndClose(socket, createProblem('BAD_USER_INPUT', detail, { status }));
}
