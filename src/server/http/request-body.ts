/** Reads the body of a request whole. */
import type { IncomingMessage } from 'node:http';
import { keepingSpan } from '../../spans.ts';

/** Bytes that a fetch Request takes. */
export type Body = Buffer<ArrayBuffer>;

/**
 * Gives the body, or null as soon as it is known to be larger than the maximum. If the client goes before the end
 * of its body, it gets no answer, and nothing is given.
 */
export function readBody(
  req: IncomingMessage,
  bytesMax: number,
  takeBody: (body: Body | null) => void,
): void {
  // Events of a connection belong to no trace.
  const take = keepingSpan(takeBody);
  if (Number(req.headers['content-length'] ?? 0) > bytesMax) {
    take(null);
    return;
  }
  const chunks: Body[] = [];
  let bytes = 0;
  req.on('data', (chunk: Body) => {
    bytes += chunk.length;
    if (bytes <= bytesMax) chunks.push(chunk);
    else if (bytes - chunk.length <= bytesMax) take(null);
  });
  req.on('end', () => {
    if (bytes <= bytesMax) take(chunks.length === 1 ? (chunks[0] as Body) : Buffer.concat(chunks));
  });
}
