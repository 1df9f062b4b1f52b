/** Sends problem documents to connections whose request Fastify does not handle. */
import { maxHeaderSize, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { createProblem, type Problem } from '../../kernel/errors.ts';

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

const LATEST_RESPONSE = Symbol('latest response');

/** A connection with the response to its newest request, as long as that response is open. */
type TrackedSocket = Duplex & { [LATEST_RESPONSE]?: ServerResponse | undefined };

/**
 * Stores the newest open response of a connection. A closed response is removed, because no long-lived object may
 * reference objects of a request (docs/decisions/048-request-object-lifetime.md).
 */
export function trackResponse(response: ServerResponse): void {
  (response.req.socket as TrackedSocket)[LATEST_RESPONSE] = response;
  response.on('close', removeClosedResponse);
}

function removeClosedResponse(this: ServerResponse): void {
  const socket: TrackedSocket = this.req.socket;
  if (socket[LATEST_RESPONSE] === this) socket[LATEST_RESPONSE] = undefined;
}

/** True if the client still waits for a response on the connection. Bytes written now would become part of it. */
export function hasOpenResponse(socket: TrackedSocket): boolean {
  const response = socket[LATEST_RESPONSE];
  return response !== undefined && (!response.writableEnded || isQueued(response));
}

/** True if the client may have received a part of a response, and not yet all of it. */
function hasBegunResponse(socket: TrackedSocket): boolean {
  const response = socket[LATEST_RESPONSE];
  if (response === undefined || !hasOpenResponse(socket)) return false;
  return response.headersSent || isQueued(response);
}

/** True if the responses to earlier requests of the connection are sent first. */
function isQueued({ socket }: ServerResponse): boolean {
  return socket === null;
}

/**
 * Refuses a request that Node's HTTP parser can't read. If the client has received a part of a response, closes the
 * connection instead, because the client would read the refusal as the rest of that response. Node calls this function
 * again for further bytes of the connection.
 */
export function refuseUnreadable({ code = '' }: { code?: string }, socket: Duplex): void {
  if (hasBegunResponse(socket)) return void socket.destroy();
  if (!socket.writable) return;
  const { status, detail } = REFUSALS[code] ?? MALFORMED;
  sendProblemAndClose(socket, createProblem('BAD_USER_INPUT', detail, { status }));
}
