/** Streams results in responses of Yoga's own handler. */
import { PassThrough } from 'node:stream';
import type { Plugin } from 'graphql-yoga';
import type { OpenStreams } from '../../domain/viewer/open-streams.ts';
import type { Results } from '../../graphql/execution/operation-context.ts';
import type { RequestMetadata } from '../http/request-metadata.ts';
import { createStreamHead, writeStream } from './event-stream.ts';
import { findStreamFormat } from './stream-format.ts';

/** The buffer is small, so that events stay in the log until the client reads. */
const BUFFERED_BYTES_MAX = 16 * 1024;

type OnResultProcess = NonNullable<Plugin['onResultProcess']>;
type ResultProcessor = Parameters<Parameters<OnResultProcess>[0]['setResultProcessor']>[0];

export function useEventStream(
  streams: Pick<OpenStreams, 'isStopping'>,
  { keepAliveMs }: { keepAliveMs?: number } = {},
): Plugin<object, RequestMetadata> {
  return {
    onResultProcess({ request, result, setResultProcessor, serverContext }) {
      const accept = request.headers.get('accept');
      const format = findStreamFormat(accept, result);
      if (!format) return;
      const processor: ResultProcessor = (results, { Response }) => {
        const body = new PassThrough({ highWaterMark: BUFFERED_BYTES_MAX });
        const options = { format, keepAliveMs, streams, client: serverContext };
        void writeStream(results as Results, body, options);
        // The client may already have disconnected, and then no event would close the stream.
        if (request.signal.aborted) body.destroy();
        request.signal.addEventListener('abort', () => body.destroy(), { once: true });
        return new Response(body as never, createStreamHead(format, results as Results));
      };
      setResultProcessor(processor, format.contentType);
    },
  };
}
