/** Which requests may become WebSockets. */
import type { IncomingMessage } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Problem, problemOf } from '../../errors.ts';

/** Null if the path and the origin allow the upgrade. */
export function findRefusal(
  { url = '' }: Pick<IncomingMessage, 'url'>,
  mayOpen: boolean,
): Problem | null {
  const path = url.split('?', 1)[0];
  if (path !== '/graphql')
    return problemOf('NOT_FOUND', `There is no WebSocket at ${path}. Open it at /graphql.`);
  if (mayOpen) return null;
  return problemOf(
    'FORBIDDEN',
    'Pages of this origin may not open a WebSocket here: neither allowedOrigins of a project nor CORS_ORIGINS of the server holds it.',
  );
}

/** Sends the problem as an HTTP response, and closes the connection. */
export function refuseUpgrade(socket: Duplex, problem: Problem): void {
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
