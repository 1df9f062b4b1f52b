/** A pipeline whose operations are parts of traces. A subscription's part is over when its stream is open. */
import { getOperationAST } from 'graphql';
import { currentSpan, type Span, type Tracer, within } from '../../spans.ts';
import type { Opened, Pipeline, Results } from './pipeline.ts';

const NAME = 'graphql';

/** The pipeline itself if no receiver of traces is set. */
export function traced(pipeline: Pipeline, tracer: Tracer): Pipeline {
  if (!tracer.isOn) return pipeline;
  return {
    // Operations over a WebSocket belong to no request: each begins a trace.
    open: (...asked) => {
      const request = currentSpan();
      const span = request?.begin(NAME, {}) ?? tracer.begin(NAME, { kind: 'server' });
      return openTraced(pipeline, span, asked);
    },
    async run(...asked) {
      const request = currentSpan();
      if (!request?.isRecorded) return pipeline.run(...asked);
      const opened = await openTraced(pipeline, request.begin(NAME, {}), asked);
      return 'errors' in opened ? opened : opened.run();
    },
  };
}

async function openTraced(pipeline: Pipeline, span: Span, asked: Parameters<Pipeline['open']>) {
  const opened = await within(span, () => pipeline.open(...asked));
  if (!('errors' in opened)) return { ...opened, run: () => runTraced(span, opened) };
  endWith(span, opened.errors);
  return opened;
}

async function runTraced(span: Span, { args, cost, run }: Opened): Promise<Results> {
  const operation = getOperationAST(args.document, args.operationName);
  span.set({
    'graphql.operation.type': operation?.operation,
    'graphql.operation.name': operation?.name?.value,
    'gateway.graphql.cost': cost,
  });
  const results = await within(span, run);
  endWith(span, 'errors' in results ? results.errors : undefined);
  return results;
}

function endWith(span: Span, errors: Extract<Results, { data?: unknown }>['errors']): void {
  const code = errors?.[0]?.extensions.code;
  span.end(errors?.length ? String(code ?? 'INTERNAL_ERROR') : undefined);
}
