/** Reports the outcome of operations to plugins that observe them. */
import type { ExecutionResult, GraphQLError } from 'graphql';
import {
  listErrors,
  type OperationContext,
  type OperationPlugin,
} from '../execution/operation-context.ts';

type Listener = (context: OperationContext, errors: readonly GraphQLError[]) => void;

/**
 * Calls `onOutcome` once for each operation: when it is refused, when its result is available, or when its stream
 * opens. Must follow useProblems, so that errors have codes.
 */
export function useOutcome(onOutcome: Listener): OperationPlugin {
  const reportErrors = (context: object, errors: readonly unknown[]) =>
    onOutcome(context as OperationContext, errors as readonly GraphQLError[]);
  return {
    onPluginInit({ registerContextErrorHandler }) {
      registerContextErrorHandler(({ context, error }) =>
        reportErrors(context as object, listErrors(error)),
      );
    },
    onParse() {
      return ({ context, result }) => {
        if (result instanceof Error) reportErrors(context, [result]);
      };
    },
    onValidate() {
      return ({ context, valid, result }) => {
        if (!valid) reportErrors(context, result);
      };
    },
    onExecute({ context }) {
      // An execution for one event of a stream is not an operation.
      if (context.operation?.operation === 'subscription') return;
      return {
        onExecuteDone: ({ result }) => onOutcome(context, (result as ExecutionResult).errors ?? []),
      };
    },
    onSubscribe({ context }) {
      return {
        onSubscribeResult({ result }) {
          onOutcome(context, 'errors' in result ? ((result as ExecutionResult).errors ?? []) : []);
        },
      };
    },
  };
}
