/**
 * Compiles repeated queries to functions, separately for each operation of a document. If a compiled query returns an
 * error, graphql-js runs it again, so that errors have one form. Operations that must not run twice are not compiled:
 * mutations, subscriptions, and queries that send requests to providers.
 */
import {
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import type { OperationPlugin } from '../execution/operation-context.ts';

/** The run that compiles a query. Compiling costs as much as a few runs, and the function takes memory. */
const COMPILED_FROM_RUN = 3;

type Execute = (args: ExecutionArgs) => Promise<ExecutionResult> | ExecutionResult;

/** Must precede plugins that wrap the execution. */
export function useCompiledQueries(): OperationPlugin {
  const executors = new WeakMap<OperationDefinitionNode, Execute>();
  return {
    onExecute({ context: { operation, project, cost }, setExecuteFn }) {
      if (!operation) return;
      // A repetition after an error would send requests to providers again. The schema of a project can change.
      if (project || cost?.providerCalls) return setExecuteFn(execute);
      const executor = executors.get(operation) ?? createExecutor(operation);
      executors.set(operation, executor);
      setExecuteFn(executor);
    },
  };
}

/** Returns the executor of one operation. Call it with arguments of that operation only. */
export function createExecutor(
  { operation, name }: OperationDefinitionNode,
  compiledFromRun = COMPILED_FROM_RUN,
): Execute {
  if (operation !== 'query') return execute;
  let runs = 0;
  let compiledQuery: CompiledQuery | null = null;
  return (args) => {
    runs += 1;
    if (runs === compiledFromRun) compiledQuery = compile(args, name?.value);
    if (!compiledQuery) return execute(args);
    const { rootValue, contextValue, variableValues } = args;
    const repeatOnError = (result: ExecutionResult) =>
      hasSucceeded(result) ? result : execute(args);
    const result = compiledQuery.query(rootValue, contextValue, variableValues ?? {});
    return result instanceof Promise ? result.then(repeatOnError) : repeatOnError(result);
  };
}

function hasSucceeded({ data, errors }: ExecutionResult): boolean {
  return data != null && !errors?.length;
}

/** Null if the query can't be compiled. graphql-js then runs it. */
function compile(
  { schema, document }: { schema: GraphQLSchema; document: ExecutionArgs['document'] },
  operationName: string | undefined,
): CompiledQuery | null {
  try {
    const compiledQuery = compileQuery(schema, document, operationName, {
      disablingCapturingStackErrors: true,
      // Resolvers are typed, so values need no check. Without the check, a page needs a third less memory.
      disableLeafSerialization: true,
    });
    return isCompiledQuery(compiledQuery) ? compiledQuery : null;
  } catch {
    return null;
  }
}
