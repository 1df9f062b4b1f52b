/** Hooks for reading and changing data, based on Relay's hooks. */
import { useDeferredValue, useMemo, useState } from 'react';
import { useLazyLoadQuery, useMutation } from 'react-relay';
import type { GraphQLTaggedNode, MutationParameters, OperationType } from 'relay-runtime';
import { NEEDS_ALL } from '../network/environment.ts';
import { type GraphqlError, Problem, toProblem } from '../network/problem.ts';
import { refreshAll, useRefreshKey } from './refresh.ts';

/**
 * Returns cached data immediately and refreshes it from the gateway. The previous data stays while new
 * variables load. With `needsAll`, the failure of a nested field is thrown, so that the page shows the reason.
 */
export function usePageQuery<Query extends OperationType>(
  query: GraphQLTaggedNode,
  variables: Query['variables'],
  { everyMs, needsAll = false }: { everyMs?: number; needsAll?: boolean } = {},
): Query['response'] {
  const fetchKey = useDeferredValue(useRefreshKey(everyMs));
  const deferredKey = useDeferredValue(JSON.stringify(variables));
  const deferredVariables = useMemo(
    (): Query['variables'] => JSON.parse(deferredKey),
    [deferredKey],
  );
  return useLazyLoadQuery<Query>(query, deferredVariables, {
    fetchPolicy: 'store-and-network',
    fetchKey,
    ...(needsAll && { networkCacheConfig: NEEDS_ALL }),
  });
}

/** The response to a mutation without errors. Root fields are null only if they were refused. */
export type ChangeResponse<Mutation extends MutationParameters> = {
  [Field in keyof Mutation['response']]: NonNullable<Mutation['response'][Field]>;
};

interface MutationControl<Mutation extends MutationParameters> {
  /** Resolves with null if the gateway refused the mutation. `problem` then has the reason. */
  run: (variables: Mutation['variables']) => Promise<ChangeResponse<Mutation> | null>;
  isRunning: boolean;
  problem: Problem | null;
}

interface ChangeOptions {
  /** True if the response contains every change, so that pages are not refreshed. */
  skipRefetch?: boolean;
}

export function useChange<Mutation extends MutationParameters>(
  mutation: GraphQLTaggedNode,
  { skipRefetch = false }: ChangeOptions = {},
): MutationControl<Mutation> {
  const [commit, isRunning] = useMutation<Mutation>(mutation);
  const [problem, setProblem] = useState<Problem | null>(null);
  const run = (variables: Mutation['variables']) =>
    new Promise<ChangeResponse<Mutation> | null>((resolve) => {
      setProblem(null);
      const refuse = (error: unknown) => {
        setProblem(toProblem(error));
        resolve(null);
      };
      commit({
        variables,
        onError: refuse,
        onCompleted: (response, errors) => {
          const [error] = (errors ?? []) as unknown as GraphqlError[];
          if (error) return refuse(new Problem(error));
          if (!skipRefetch) refreshAll();
          resolve(response as ChangeResponse<Mutation>);
        },
      });
    });
  return { run, isRunning, problem };
}
