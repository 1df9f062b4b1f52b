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
    onParams({ request, params, setParams, setParamsHandler }) {
      const documentId = documentIdOf(request, params);
      // Yoga insists on a query.
      if (documentId !== null) {
        const { query = '' } = params;
        setParams({ ...params, query, documentId } as typeof params);
      }
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

/** In the address of a GET, else in the body. */
function documentIdOf({ method, url }: Request, params: object): string | null {
  const given: unknown =
    method === 'GET'
      ? new URL(url).searchParams.get('documentId')
      : (params as { documentId?: unknown }).documentId;
  return typeof given === 'string' ? given : null;
}
