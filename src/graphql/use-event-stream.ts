/** Server-sent events through Yoga's own handler. */
import type { Plugin } from 'graphql-yoga';
import type { OpenStreams } from '../domain/viewer/open-streams.ts';
import { eventStream, eventStreamHead, isForStream, type Results } from './event-stream.ts';
import type { RequestFacts } from './gateway.ts';

type OnResultProcess = NonNullable<Plugin['onResultProcess']>;
type ResultProcessor = Parameters<Parameters<OnResultProcess>[0]['setResultProcessor']>[0];

export function useEventStream(
  streams: Pick<OpenStreams, 'areEnding'>,
  { keepAliveMs }: { keepAliveMs?: number } = {},
): Plugin<object, RequestFacts> {
  return {
    onResultProcess({ request, result, resultProcessor, setResultProcessor, serverContext }) {
      if (!resultProcessor || !isForStream(request.headers.get('accept'), result)) return;
      const processor: ResultProcessor = (results, { Response }) => {
        serverContext.staysOpen();
        const body = eventStream(results as Results, {
          keepAliveMs,
          isCut: () => streams.areEnding,
          onStalled: serverContext.disconnect,
        });
        // A client that has gone before the answer began would leave it open.
        if (request.signal.aborted) body.destroy();
        request.signal.addEventListener('abort', () => body.destroy(), { once: true });
        return new Response(body as never, eventStreamHead(results as Results));
      };
      setResultProcessor(processor, 'text/event-stream');
    },
  };
}
