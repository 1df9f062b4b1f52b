/** A pipeline whose operations are parts of traces. A subscription's part is over when its stream is open. */
import { getOperationAST } from 'graphql';
import { currentSpan, type Span, type Tracer, within } from '../../spans.ts';
import type { Opened, Pipeline, Results } from './pipeline.ts';

const NAME = 'graphql';

/** The pipeline itself if no receiver of traces is set. */
export function traced(pipeline: Pipeline, tracer: Tracer): Pipeline {
  if (!tracer.isOn) return pipeline;
  const open: Pipeline['open'] = async (requested, caller) => {
    // Operations over a WebSocket belong to no request.
    const span = currentSpan()?.begin(NAME, {}) ?? tracer.begin(NAME, { kind: 'server' });
    const opened = await within(span, () => pipeline.open(requested, caller));
    if ('errors' in opened) {
      endWith(span, opened.errors);
      return opened;
    }
    return { ...opened, run: () => runTraced(span, opened) };
  };
  return {
    open,
    async run(requested, caller) {
      const opened = await open(requested, caller);
      return 'errors' in opened ? opened : opened.run();
    },
  };
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
