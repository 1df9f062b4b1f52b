/** Turns errors of every step into GraphQL errors with a code and a problem document, and masks unexpected ones. */
import type { ExecutionResult, GraphQLError } from 'graphql';
import { errorsOf, type OperationPlugin } from '../execution/operation-context.ts';

export function useProblems(mapError: (error: unknown) => GraphQLError): OperationPlugin {
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
            ? running.then(withProblems, (error: unknown) => failed(error))
            : withProblems(running as ExecutionResult);
        } catch (error) {
          return failed(error);
        }
      });
    },
  };

  function withProblems(result: ExecutionResult): ExecutionResult {
    return result.errors ? { ...result, errors: result.errors.map(mapError) } : result;
  }

  function failed(error: unknown): ExecutionResult {
    return { errors: [mapError(error)] };
  }
}
