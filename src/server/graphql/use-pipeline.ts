/** Runs the operations of Yoga's own handler through the one pipeline that all transports share. */
import type { Plugin } from 'graphql-yoga';
import {
  callerOf,
  type OperationRequest,
  type Pipeline,
} from '../../graphql/execution/pipeline.ts';
import type { RequestFacts } from '../http/request-facts.ts';

export function usePipeline(pipeline: Pick<Pipeline, 'run'>): Plugin<object, RequestFacts> {
  return {
    onParams({ request, setParamsHandler }) {
      setParamsHandler(({ params, context }) => {
        const caller = callerOf((name) => request.headers.get(name), context as RequestFacts);
        return pipeline.run(params as OperationRequest, {
          ...caller,
          isGet: request.method === 'GET',
        });
      });
    },
  };
}
