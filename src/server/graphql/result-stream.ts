/** Streams the results of an operation over HTTP. Each operation has its own connection. */
import { PassThrough, type Writable } from 'node:stream';
import type { Plugin } from 'graphql-yoga';
import type { OpenResultStreams } from '../../domain/access/viewer/open-result-streams.ts';
import { yieldMessage } from '../../graphql/execution/message.ts';
import type { Results } from '../../graphql/execution/operation-context.ts';
import type { RequestMetadata } from '../http/request-metadata.ts';
import { getStatusAndHeaders } from './graphql-http-response.ts';
import {
  findResultStreamFormat,
  isResultStream,
  type ResultStreamFormat,
} from './result-stream-format.ts';

/** Keeps proxies from closing a quiet connection. */
const KEEP_ALIVE_MS = 12_000;
/** The number of consecutive checks without progress after which the connection of a stalled client is cut. */
const STALLED_CHECKS_MAX = 3;

/**
 * Returns the status and headers of a stream. Only the errors that decide whether a client reconnects change the
 * status. graphql-sse reports all others inside the stream.
 */
export function createResultStreamHead({ contentType }: ResultStreamFormat, results: Results) {
  const headers = {
    'content-type': contentType,
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  };
  const http = isResultStream(results) ? null : getStatusAndHeaders(results);
  const hasErrorStatus = http && (http.status >= 500 || [401, 429].includes(http.status));
  return hasErrorStatus
    ? { status: http.status, headers: { ...headers, ...http.headers } }
    : { status: 200, headers };
}

interface ResultStreamOptions {
  format: ResultStreamFormat;
  keepAliveMs?: number;
  /** A stopping server ends the stream before the operation completes. The client then reconnects. */
  streams: Pick<OpenResultStreams, 'isStopping'>;
  client: Pick<RequestMetadata, 'slot' | 'disconnect'>;
}

/**
 * Writes results until the last one, or until the body is closed. Reads a result only when the body's buffer has space.
 */
export async function writeResultStream(
  results: Results,
  body: Writable,
  { format, keepAliveMs = KEEP_ALIVE_MS, streams, client }: ResultStreamOptions,
): Promise<void> {
  // LIMIT_SUBSCRIPTIONS limits open streams instead of the request slot.
  client.slot?.release();
  const iterator = isResultStream(results)
    ? results[Symbol.asyncIterator]()
    : yieldMessage(results);
  let writtenCount = 0;
  let writtenCountAtCheck = 0;
  let idleChecks = 0;
  const checkProgress = () => {
    idleChecks = writtenCountAtCheck === writtenCount ? idleChecks + 1 : 0;
    writtenCountAtCheck = writtenCount;
    if (body.writableLength === 0) body.write(format.keepAlive);
    else if (idleChecks >= STALLED_CHECKS_MAX) client.disconnect();
  };
  const timer = setInterval(checkProgress, keepAliveMs).unref();
  const close = () => {
    clearInterval(timer);
    void iterator.return?.();
  };
  if (body.destroyed) close();
  else body.once('close', close);
  // An error means that the client has disconnected. A `close` event follows it.
  body.on('error', () => {});
  body.write(format.prologue);
  try {
    for (;;) {
      const { done, value } = await iterator.next();
      if (body.destroyed) return;
      if (done) break;
      writtenCount += 1;
      for (const part of format.encode(value)) body.write(part);
      if (body.writableNeedDrain) await waitForDrain(body);
    }
    body.end(streams.isStopping ? format.interruption : format.completion);
  } catch (error) {
    body.destroy(error as Error);
  }
}

/** Resolves when the buffer has space, or the client disconnects. */
function waitForDrain(body: Writable): Promise<void> {
  return new Promise((resolve) => {
    const resume = () => {
      body.off('drain', resume).off('close', resume);
      resolve();
    };
    if (body.destroyed) resolve();
    else body.once('drain', resume).once('close', resume);
  });
}

/** The buffer is small, so that events stay in the log until the client reads. */
const BUFFERED_BYTES_MAX = 16 * 1024;

/** Streams results in responses of Yoga's own handler. */
export function useResultStream(
  streams: Pick<OpenResultStreams, 'isStopping'>,
  { keepAliveMs }: { keepAliveMs?: number } = {},
): Plugin<object, RequestMetadata> {
  return {
    onResultProcess({ request, result, setResultProcessor, serverContext }) {
      const format = findResultStreamFormat(request.headers.get('accept'), result);
      if (!format) return;
      setResultProcessor((results, { Response }) => {
        const body = new PassThrough({ highWaterMark: BUFFERED_BYTES_MAX });
        const options = { format, keepAliveMs, streams, client: serverContext };
        void writeResultStream(results as Results, body, options);
        // The client may already have disconnected, and then no event would close the stream.
        if (request.signal.aborted) body.destroy();
        request.signal.addEventListener('abort', () => body.destroy(), { once: true });
        return new Response(body as never, createResultStreamHead(format, results as Results));
      }, format.contentType);
    },
  };
}
