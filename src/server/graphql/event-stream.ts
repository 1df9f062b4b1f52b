/**
 * Server-sent events as graphql-sse speaks them (one connection for each operation): `next` for each
 * message, `complete` at the end.
 */
import type { Writable } from 'node:stream';
import type { ExecutionResult } from 'graphql';
import { Message } from '../../graphql/execution/message.ts';
import type { Results } from '../../graphql/execution/operation-context.ts';
import { httpOf } from './http-answer.ts';

const EVENT_STREAM = 'text/event-stream';
/** Keeps proxies from closing a quiet connection. */
const KEEP_ALIVE_MS = 12_000;
/** After this many checks in a row at which the client has read nothing, its connection is cut. */
const STALLED_LOOKS = 3;
const COMMENT = ':\n\n';
const COMPLETE = 'event: complete\ndata:\n\n';

/** True for a subscription, and for any operation of a client that accepts nothing but a stream. */
export function isForStream(accept: string | null | undefined, result: unknown): boolean {
  return isStream(result) || wantsStream(accept);
}

export function wantsStream(accept: string | null | undefined): boolean {
  return !!accept?.includes(EVENT_STREAM) && !/json|\*\/\*/.test(accept);
}

export function isStream(result: unknown): result is AsyncIterable<Message> {
  return typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
}

/** graphql-sse reports refusals inside a stream; a status is for those that tell a client whether to reconnect. */
export function eventStreamHead(results: Results) {
  const headers = {
    'content-type': `${EVENT_STREAM}; charset=utf-8`,
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  };
  const http = isStream(results) ? null : httpOf(results);
  const isKept = http && (http.status >= 500 || [401, 429].includes(http.status));
  return isKept
    ? { status: http.status, headers: { ...headers, ...http.headers } }
    : { status: 200, headers };
}

export interface StreamOptions {
  keepAliveMs?: number;
  /** Whether the stream ends before the operation does: then the client reconnects. */
  isCut: () => boolean;
  onStalled: () => void;
}

/**
 * Writes results until they or the body end. The next result is taken only when the last one fits in the body's
 * buffer. Results that come together are written together.
 */
export async function writeEventStream(
  results: Results,
  body: Writable,
  { keepAliveMs = KEEP_ALIVE_MS, isCut, onStalled }: StreamOptions,
): Promise<void> {
  const iterator = isStream(results) ? results[Symbol.asyncIterator]() : once(results);
  let written = 0;
  let seen = 0;
  let lookedAtNothing = 0;
  const look = () => {
    lookedAtNothing = seen === written ? lookedAtNothing + 1 : 0;
    seen = written;
    if (body.writableLength === 0) body.write(COMMENT);
    else if (lookedAtNothing >= STALLED_LOOKS) onStalled();
  };
  const timer = setInterval(look, keepAliveMs).unref();
  const close = () => {
    clearInterval(timer);
    void iterator.return?.();
  };
  if (body.destroyed) close();
  else body.once('close', close);
  // The client has gone: 'close' follows.
  body.on('error', () => {});
  // The first bytes let a client's fetch resolve before anything has happened.
  body.write(COMMENT);
  try {
    for (;;) {
      const { done, value } = await iterator.next();
      if (body.destroyed) return;
      if (done) break;
      written += 1;
      if (!body.write(value.serverSentEvent)) await drained(body);
    }
    body.end(isCut() ? undefined : COMPLETE);
  } catch (error) {
    body.destroy(error as Error);
  }
}

/** Resolves when there is room again, or the client has gone. */
function drained(body: Writable): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      body.off('drain', go).off('close', go);
      resolve();
    };
    if (body.destroyed) resolve();
    else body.once('drain', go).once('close', go);
  });
}

async function* once(result: ExecutionResult): AsyncGenerator<Message> {
  yield new Message(result);
}
