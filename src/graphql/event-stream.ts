/**
 * Server-sent events as graphql-sse speaks them (one connection for each operation): `next` with a result,
 * `complete` at the end. Each message carries its cursor as its id, so that Last-Event-ID resumes.
 */
import { Readable } from 'node:stream';
import type { ExecutionResult } from 'graphql';
import { httpOf } from './http-answer.ts';
import { resultText } from './shared-results.ts';
import { cursorOf } from './use-subscriptions.ts';

const EVENT_STREAM = 'text/event-stream';
/** Keeps proxies from closing a quiet connection. */
const KEEP_ALIVE_MS = 12_000;
/** Looks in a row at a client that has taken nothing, before its connection is cut. */
const STALLED_LOOKS = 3;
/** Results wait in the log, not in the server: a client that reads slowly is asked for before the next is made. */
const MOST_BUFFERED_BYTES = 16 * 1024;

export type Results = AsyncIterable<ExecutionResult> | ExecutionResult;

/** Whatever yields many results, and what a client wants as a stream and as nothing else. */
export function isForStream(accept: string | null | undefined, result: unknown): boolean {
  return isStream(result) || wantsStream(accept);
}

export function wantsStream(accept: string | null | undefined): boolean {
  return !!accept?.includes(EVENT_STREAM) && !/json|\*\/\*/.test(accept);
}

export function isStream(result: unknown): result is AsyncIterable<ExecutionResult> {
  return typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
}

/** graphql-sse reports refusals inside a stream; only what a client should come back for, or not, is a status. */
export function eventStreamHead(results: Results) {
  const headers = {
    'content-type': `${EVENT_STREAM}; charset=utf-8`,
    'cache-control': 'no-cache',
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
  /** Whether the end is not that of the operation: then the client is to come again. */
  isCut: () => boolean;
  onStalled: () => void;
}

/** Takes the next result only when the last one has gone out. */
export function eventStream(
  results: Results,
  { keepAliveMs = KEEP_ALIVE_MS, isCut, onStalled }: StreamOptions,
): Readable {
  const iterator = isStream(results) ? results[Symbol.asyncIterator]() : once(results);
  let lookedAtNothing = 0;
  const body = new Readable({
    highWaterMark: MOST_BUFFERED_BYTES,
    read() {
      lookedAtNothing = 0;
      iterator.next().then(
        ({ done, value }) => {
          if (!done) this.push(messageOf(value));
          else if (isCut()) this.push(null);
          else {
            this.push('event: complete\ndata:\n\n');
            this.push(null);
          }
        },
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      clearInterval(timer);
      Promise.resolve(iterator.return?.()).then(
        () => done(error),
        () => done(error),
      );
    },
  });
  // The first bytes let a client's fetch resolve before anything has happened.
  body.push(':\n\n');
  const timer = setInterval(() => {
    if (body.readableLength === 0) body.push(':\n\n');
    else if (++lookedAtNothing >= STALLED_LOOKS) onStalled();
  }, keepAliveMs);
  timer.unref();
  return body;
}

const MESSAGES = new WeakMap<ExecutionResult, Buffer>();

/** Made once for all who share the result. */
function messageOf(result: ExecutionResult): Buffer {
  let message = MESSAGES.get(result);
  if (!message) {
    const cursor = cursorOf(result);
    const id = cursor === undefined ? '' : `id: ${cursor}\n`;
    message = Buffer.from(`event: next\n${id}data: ${resultText(result)}\n\n`);
    MESSAGES.set(result, message);
  }
  return message;
}

async function* once(result: ExecutionResult): AsyncGenerator<ExecutionResult> {
  yield result;
}
