/**
 * A pipeline whose operations are parts of traces. An operation over HTTP is told by its request, one over a WebSocket, which
 * belongs to no request, by a span of its own.
 */
import { getOperationAST } from 'graphql';
import { currentSpan, type Span, type Tracer, within } from '../../spans.ts';
import type { Opened, Pipeline, Results } from './pipeline.ts';

const NAME = 'graphql';

/** The pipeline itself if no receiver of traces is set. */
export function traced(pipeline: Pipeline, tracer: Tracer): Pipeline {
  if (!tracer.isOn) return pipeline;
  return {
    async open(...asked) {
      const span = currentSpan()?.begin(NAME, {}) ?? tracer.begin(NAME, { kind: 'server' });
      const opened = await within(span, () => pipeline.open(...asked));
      if (!('errors' in opened)) return { ...opened, run: () => runIn(span, opened) };
      fail(span, opened.errors);
      span.end();
      return opened;
    },
    run(...asked) {
      const request = currentSpan();
      return request?.isRecorded ? runTold(request, pipeline, asked) : pipeline.run(...asked);
    },
  };
}

async function runTold(
  request: Span,
  pipeline: Pipeline,
  asked: Parameters<Pipeline['run']>,
): Promise<Results> {
  const opened = await pipeline.open(...asked);
  if ('errors' in opened) {
    fail(request, opened.errors);
    return opened;
  }
  // What a stream does later is no part of its request, which lasts as long.
  if (operationOf(opened)?.operation === 'subscription') {
    return runIn(request.begin(NAME, {}), opened);
  }
  return tell(request, opened, await opened.run());
}

/** The operation as a span of its own; of a subscription, the beginning of its stream. */
async function runIn(span: Span, opened: Opened): Promise<Results> {
  const results = tell(span, opened, await within(span, opened.run));
  span.end();
  return results;
}

function tell(span: Span, opened: Opened, results: Results): Results {
  const operation = operationOf(opened);
  span.set({
    'graphql.operation.type': operation?.operation,
    'graphql.operation.name': operation?.name?.value,
    'gateway.graphql.cost': opened.cost,
  });
  if ('errors' in results) fail(span, results.errors);
  return results;
}

function operationOf({ args }: Opened) {
  return getOperationAST(args.document, args.operationName);
}

function fail(span: Span, errors: Extract<Results, { data?: unknown }>['errors']): void {
  const code = errors?.[0]?.extensions.code;
  if (errors?.length) span.fail(String(code ?? 'INTERNAL_ERROR'));
}
