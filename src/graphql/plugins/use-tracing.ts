/**
 * Traces operations. The span of an HTTP request describes its operation. An operation of a WebSocket and
 * the opening of a stream get their own spans.
 */
import { type Span, SpanKind, type Tracer, trace } from '@opentelemetry/api';
import {
  beginTrace,
  failSpan,
  findSampledContext,
  inSpan,
  runInContext,
} from '../../kernel/spans.ts';
import type { OperationContext, OperationPlugin } from '../execution/operation-context.ts';
import { useOutcome } from './use-outcome.ts';

const SPAN_NAME = 'graphql';

/** Does nothing if no trace receiver is configured. */
export function useTracing(tracer: Tracer | null): OperationPlugin {
  if (!tracer) return {};
  const runInSpan = <T>({ context }: { context: object }, work: () => T): T => {
    const { tracing } = context as OperationContext;
    return tracing?.isOwn ? runInContext(tracing.traceContext, work) : work();
  };
  return {
    onEnveloped({ context, extendContext }) {
      const requestContext = findSampledContext();
      if (context?.isOnSocket) {
        const traceContext = beginTrace(tracer, { name: SPAN_NAME, kind: SpanKind.SERVER });
        extendContext({ tracing: { traceContext, isOwn: true } });
      } else if (requestContext) {
        extendContext({ tracing: { traceContext: requestContext, isOwn: false } });
      }
    },
    instrumentation: {
      parse: runInSpan,
      context: runInSpan,
      subscribe(payload, work) {
        const context = payload.context as OperationContext;
        const { tracing } = context;
        // The request of an event stream lasts as long as the stream, so the opening has a span of its own.
        if (tracing && !tracing.isOwn) {
          const { traceContext } = tracing;
          const span = tracer.startSpan(SPAN_NAME, {}, traceContext);
          context.tracing = { traceContext: trace.setSpan(traceContext, span), isOwn: true };
        }
        return runInSpan(payload, work);
      },
      execute(payload, work) {
        const { operation } = payload.context as OperationContext;
        // Executions for one event of a stream belong to no operation.
        if (!operation) return work();
        return runInSpan(payload, () => inSpan('execute', {}, work));
      },
    },
    onPluginInit({ addPlugin }) {
      addPlugin(
        useOutcome(({ tracing, operation, cost }, errors) => {
          const span = tracing && trace.getSpan(tracing.traceContext);
          if (!span) return;
          setOperationAttributes(span, { operation, cost });
          if (errors[0]) failSpan(span, String(errors[0].extensions.code ?? 'INTERNAL_ERROR'));
          if (tracing.isOwn) span.end();
        }),
      );
    },
  };
}

function setOperationAttributes(
  span: Span,
  { operation, cost }: Pick<OperationContext, 'operation' | 'cost'>,
) {
  if (!operation) return;
  span.setAttributes({
    'graphql.operation.type': operation.operation,
    'graphql.operation.name': operation.name?.value,
    'gateway.graphql.cost': cost?.cost,
  });
}
