/** Opens operations by Yoga's plugins without its HTTP layer, which costs more than most queries. */
import type { GraphQLError } from 'graphql';
import {
  listErrors,
  type OperationArgs,
  type OperationParams,
  type OperationRequest,
  type Results,
} from '../../graphql/execution/operation-context.ts';
import type { Yoga } from './yoga.ts';

/** An admitted operation that is ready to run. */
export interface OpenedOperation {
  args: OperationArgs;
  run: () => Promise<Results>;
}

/**
 * Runs the steps before the execution, in the order of Yoga's own handler. Never throws. Callers must map the errors: a
 * plugin that fails unexpectedly throws an error that `useProblems` has not mapped.
 */
export async function openOperation(
  yoga: Pick<Yoga, 'getEnveloped'>,
  params: OperationParams,
  operationRequest: OperationRequest,
): Promise<OpenedOperation | { errors: readonly GraphQLError[] }> {
  const { query, operationName, variables } = params;
  const { schema, parse, validate, contextFactory, execute, subscribe } = yoga.getEnveloped({
    ...operationRequest,
    params,
  });
  try {
    const document = parse(query ?? '');
    const errors = validate(schema, document);
    if (errors.length > 0) return { errors };
    const contextValue = await contextFactory<object>();
    const args = { schema, document, contextValue, operationName, variableValues: variables };
    const isSubscription = contextValue.operation?.operation === 'subscription';
    return { args, run: async () => (isSubscription ? subscribe : execute)(args) };
  } catch (error) {
    return { errors: listErrors(error) as readonly GraphQLError[] };
  }
}
