/** Maps errors of every step to GraphQL errors with a code and a problem document, and masks unexpected ones. */
import type { ExecutionArgs, ExecutionResult, GraphQLError } from 'graphql';
import { listVariableErrors } from '../execution/input-values.ts';
import {
  listErrors,
  type OperationContext,
  type OperationPlugin,
} from '../execution/operation-context.ts';

type MapError = (error: unknown) => GraphQLError;

/**
 * Returns the errors of an execution. Errors without a path concern variables, which are checked before any field.
 */
export function toProblems(
  args: ExecutionArgs,
  errors: readonly GraphQLError[],
  mapError: MapError,
): readonly GraphQLError[] {
  const { hasCoercedVariables } = args.contextValue as Partial<OperationContext>;
  const concernsVariables = !hasCoercedVariables && errors.every(({ path }) => path === undefined);
  const variableErrors = concernsVariables ? listVariableErrors(args) : [];
  return variableErrors.length > 0 ? variableErrors : errors.map(mapError);
}

export function useProblems(mapError: MapError): OperationPlugin {
  return {
    onPluginInit({ registerContextErrorHandler }) {
      registerContextErrorHandler(({ error, setError }) => {
        const errors = listErrors(error).map(mapError);
        setError(errors.length === 1 ? (errors[0] as GraphQLError) : new AggregateError(errors));
      });
    },
    onParse({ parseFn, setParseFn }) {
      setParseFn((source, options) => {
        try {
          return parseFn(source, options);
        } catch (error) {
          throw mapError(error);
        }
      });
    },
    onValidate() {
      return ({ valid, result, setResult }) => {
        if (!valid) setResult(result.map(mapError));
      };
    },
    onExecute({ executeFn, setExecuteFn }) {
      setExecuteFn((args) => {
        try {
          const execution = executeFn(args);
          return execution instanceof Promise
            ? execution.then((result) => withProblems(args, result), toFailedResult)
            : withProblems(args, execution as ExecutionResult);
        } catch (error) {
          return toFailedResult(error);
        }
      });
    },
  };

  function withProblems(args: ExecutionArgs, result: ExecutionResult): ExecutionResult {
    const { errors } = result;
    return errors ? { ...result, errors: toProblems(args, errors, mapError) } : result;
  }

  function toFailedResult(error: unknown): ExecutionResult {
    return { errors: [mapError(error)] };
  }
}
