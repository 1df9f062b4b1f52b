/**
 * Traces operations. An operation over HTTP is described by the span of its request. One over a WebSocket, which has
 * no request, gets a span of its own, and so does the opening of a stream.
 */
import { currentSpan, inSpan, type Span, type Tracer, within } from '../../spans.ts';
import type { OperationContext, OperationPlugin } from '../execution/operation-context.ts';
import { useOutcome } from './use-outcome.ts';

const NAME = 'graphql';

/** Does nothing if no receiver of traces is set. */
export function useTracing(tracer: Tracer): OperationPlugin {
  if (!tracer.isOn) return {};
  const inOwnSpan = <T>({ context }: { context: object }, work: () => T): T => {
    const { tracing } = context as OperationContext;
    return tracing?.isOwn ? within(tracing.span, work) : work();
  };
  return {
    onEnveloped({ context, extendContext }) {
      const request = currentSpan();
      if (context?.isOnSocket) {
        const span = tracer.begin(NAME, { kind: 'server' });
        extendContext({ tracing: { span, isOwn: true } });
      } else if (request?.isRecorded) {
        extendContext({ tracing: { span: request, isOwn: false } });
      }
    },
    instrumentation: {
      parse: inOwnSpan,
      context: inOwnSpan,
      subscribe(payload, work) {
        const context = payload.context as OperationContext;
        const { tracing } = context;
        // The request of an event stream lasts as long as the stream, so the opening has a span of its own.
        if (tracing && !tracing.isOwn) {
          context.tracing = { span: tracing.span.begin(NAME, {}), isOwn: true };
        }
        return inOwnSpan(payload, work);
      },
      execute(payload, work) {
        const { operation } = payload.context as OperationContext;
        // Executions for one event of a stream belong to no operation.
        if (!operation) return work();
        return inOwnSpan(payload, () => inSpan('execute', {}, work));
      },
    },
    onPluginInit({ addPlugin }) {
      addPlugin(
        useOutcome(({ tracing, operation, cost }, errors) => {
          if (!tracing) return;
          const { span, isOwn } = tracing;
          describe(span, { operation, cost });
          if (errors[0]) span.fail(String(errors[0].extensions.code ?? 'INTERNAL_ERROR'));
          if (isOwn) span.end();
        }),
      );
    },
  };
}

function describe(span: Span, { operation, cost }: Pick<OperationContext, 'operation' | 'cost'>) {
  if (!operation) return;
  span.set({
    'graphql.operation.type': operation.operation,
    'graphql.operation.name': operation.name?.value,
    'gateway.graphql.cost': cost,
  });
}
