/** Which requests may become WebSockets. */
import type { IncomingMessage } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { problemOf } from '../../errors.ts';

export interface UpgradeRefusal {
  status: 403 | 404 | 503;
  detail: string;
}

/** Null if the upgrade is allowed. */
export function findRefusal(
  { url = '' }: Pick<IncomingMessage, 'url'>,
  mayOpen: boolean,
): UpgradeRefusal | null {
  const path = url.split('?', 1)[0];
  if (path !== '/graphql')
    return { status: 404, detail: `There is no WebSocket at ${path}. Open it at /graphql.` };
  if (mayOpen) return null;
  return {
    status: 403,
    detail:
      'Pages of this origin may not open a WebSocket here: neither allowedOrigins of a project nor CORS_ORIGINS of the server holds it.',
  };
}

/** Answers an upgrade as HTTP does, and closes. */
export function refuseUpgrade(socket: Duplex, { status, detail }: UpgradeRefusal): void {
  const code = { 403: 'FORBIDDEN', 404: 'NOT_FOUND', 503: 'RATE_LIMITED' } as const;
  const body = JSON.stringify({ ...problemOf(code[status], detail), status });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(status === 503 ? ['Retry-After: 1'] : []),
  ];
  socket.on('error', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
