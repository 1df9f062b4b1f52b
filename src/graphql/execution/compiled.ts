/**
 * Queries that are sent repeatedly are compiled to functions, each operation of a document by itself. If one
 * answers with an error, graphql-js runs the query again, so that clients read errors in its form alone: a query
 * changes nothing, so it may run twice. Mutations and subscriptions are not compiled.
 */
import {
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';

/** Compiling costs as much as a few runs, and the memory of the function. */
const RUNS_BEFORE = 3;

export type Execute = (args: ExecutionArgs) => Promise<ExecutionResult> | ExecutionResult;

/** How one operation of one document is executed: always call it with that operation's arguments. */
export function createExecute(
  { operation, name }: OperationDefinitionNode,
  runsBefore = RUNS_BEFORE,
): Execute {
  if (operation !== 'query') return execute;
  let runs = 0;
  let compiled: CompiledQuery | null = null;
  return (args) => {
    runs += 1;
    if (runs === runsBefore) compiled = compile(args, name?.value);
    if (!compiled) return execute(args);
    const { rootValue, contextValue, variableValues } = args;
    const result = compiled.query(rootValue, contextValue, variableValues ?? {});
    return result instanceof Promise
      ? result.then((settled) => (isGood(settled) ? settled : execute(args)))
      : isGood(result)
        ? result
        : execute(args);
  };
}

function isGood({ data, errors }: ExecutionResult): boolean {
  return data != null && !errors?.length;
}

/** Null if it can't be compiled: then graphql-js runs the operation. */
function compile(
  { schema, document }: { schema: GraphQLSchema; document: ExecutionArgs['document'] },
  operationName: string | undefined,
): CompiledQuery | null {
  try {
    const compiled = compileQuery(schema, document, operationName, {
      disablingCapturingStackErrors: true,
      // Values have their types already: to check each again takes a third of a page's memory.
      disableLeafSerialization: true,
    });
    return isCompiledQuery(compiled) ? compiled : null;
  } catch {
    return null;
  }
}
