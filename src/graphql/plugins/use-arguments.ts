/** Refuses operations with wrong arguments, as graphql-js refuses operations with wrong variables. */
import type { ExecutionResult, GraphQLError } from 'graphql';
import { DomainError } from '../../kernel/errors.ts';
import { listArgumentErrors } from '../execution/argument-checks.ts';
import type { OperationArgs, OperationPlugin } from '../execution/operation-context.ts';

/** Must follow the plugins that replace the execution, and precede those that wrap it. */
export function useArguments(mapError: (error: unknown) => GraphQLError): OperationPlugin {
  return {
    onExecute({ context, executeFn, setExecuteFn }) {
      const kind = context.operation?.operation;
      // The arguments of a subscription are checked when it is opened, and not again for each event.
      if (kind === 'subscription') return;
      setExecuteFn((args) => {
        const execute = (errors: GraphQLError[]) => {
          if (errors.length > 0) return { errors };
          const execution = executeFn(args);
          if (kind !== 'query') return execution;
          return execution instanceof Promise
            ? execution.then(refuseWrong)
            : refuseWrong(execution);
        };
        const errors = listArgumentErrors(args as OperationArgs);
        return errors instanceof Promise ? errors.then(execute) : execute(errors);
      });
    },
    onSubscribe({ subscribeFn, setSubscribeFn }) {
      setSubscribeFn(async (args) => {
        const errors = await listArgumentErrors(args as OperationArgs);
        return errors.length > 0 ? { errors: errors.map(mapError) } : subscribeFn(args);
      });
    },
  };
}

/**
 * Returns only the errors if an argument proved wrong while a query ran, such as a cursor of another list, and the error
 * made more than its own field null. A query changes nothing, so it can be refused as a whole.
 */
function refuseWrong(result: ExecutionResult): ExecutionResult {
  const errors = result.errors?.filter(
    (error) => isWrongArgument(error) && !isContained(result.data, error.path ?? []),
  );
  if (!errors?.length) return result;
  return { errors };
}

function isWrongArgument({ originalError }: GraphQLError): boolean {
  return originalError instanceof DomainError && originalError.code === 'BAD_USER_INPUT';
}

/** True if the object or list that contains the field is still in the result. */
function isContained(data: unknown, path: GraphQLError['path'] & object): boolean {
  let parent = data;
  for (const key of path.slice(0, -1)) {
    parent = (parent as Record<string | number, unknown> | null | undefined)?.[key];
  }
  return parent != null;
}
