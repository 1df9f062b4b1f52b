/** Runs the operations of Yoga's own handler through the one pipeline that all transports share. */
import type { Plugin } from 'graphql-yoga';
import { type Asking, askerOf, type Pipeline } from '../../graphql/execution/pipeline.ts';
import type { RequestFacts } from '../http/request-facts.ts';

export function usePipeline(pipeline: Pick<Pipeline, 'run'>): Plugin<object, RequestFacts> {
  return {
    onParams({ request, setParamsHandler }) {
      setParamsHandler(({ params, context }) => {
        const asker = askerOf((name) => request.headers.get(name), context as RequestFacts);
        return pipeline.run(params as Asking, { ...asker, isGet: request.method === 'GET' });
      });
    },
  };
}
