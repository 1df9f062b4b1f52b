/** Turns errors of every step into GraphQL errors with a code and a problem document, and masks unexpected ones. */
import type { ExecutionArgs, ExecutionResult, GraphQLError } from 'graphql';
import { variableErrors } from '../execution/input-values.ts';
import { errorsOf, type OperationPlugin } from '../execution/operation-context.ts';

type MapError = (error: unknown) => GraphQLError;

/** The errors of an execution. Errors without a path concern variables, which are checked before any field. */
export function problemsOf(
  args: ExecutionArgs,
  errors: readonly GraphQLError[],
  mapError: MapError,
): readonly GraphQLError[] {
  const isOfVariables = errors.every(({ path }) => path === undefined);
  const found = isOfVariables ? variableErrors(args) : [];
  return found.length > 0 ? found : errors.map(mapError);
}

export function useProblems(mapError: MapError): OperationPlugin {
  return {
    onPluginInit({ registerContextErrorHandler }) {
      registerContextErrorHandler(({ error, setError }) => {
        const errors = errorsOf(error).map(mapError);
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
          const running = executeFn(args);
          return running instanceof Promise
            ? running.then((result) => withProblems(args, result), failed)
            : withProblems(args, running as ExecutionResult);
        } catch (error) {
          return failed(error);
        }
      });
    },
  };

  function withProblems(args: ExecutionArgs, result: ExecutionResult): ExecutionResult {
    const { errors } = result;
    return errors ? { ...result, errors: problemsOf(args, errors, mapError) } : result;
  }

  function failed(error: unknown): ExecutionResult {
    return { errors: [mapError(error)] };
  }
}
