/** Refuses an operation that is too large before anything of it runs. */
import {
  type DocumentNode,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  parse,
  valueFromASTUntyped,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Config } from '../config.ts';
import type { Context } from './context.ts';
import { toGraphQLError } from './errors.ts';
import { costOf, sizeOf } from './query-size.ts';

/** What the introspection query of today's tools needs, and a little more. */
const INTROSPECTION_DEPTH = 20;
/** Asks for extensions.cost. */
export const COST_HEADER = 'x-query-cost';

export function useQueryLimits(config: Config): Plugin<Context> {
  const limits = [
    ['depth', 'LIMIT_DEPTH'],
    ['aliases', 'LIMIT_ALIASES'],
    ['directives', 'LIMIT_DIRECTIVES'],
  ] as const;

  const measureCost: NonNullable<Plugin<Context>['onExecute']> = ({
    args,
    setResultAndStopExecution,
  }) => {
    const operation = getOperationAST(args.document, args.operationName);
    if (!operation) return undefined;
    const cost = costOf({
      schema: args.schema,
      document: args.document,
      operation,
      variables: { ...defaultsOf(operation), ...args.variableValues },
    });
    if (cost > config.LIMIT_COST) {
      setResultAndStopExecution({ errors: [exceeded('cost', cost, config.LIMIT_COST)] });
      return undefined;
    }
    const { request } = args.contextValue as { request?: Request };
    if (!request?.headers.get(COST_HEADER)) return undefined;
    return {
      onExecuteDone({ result, setResult }) {
        if (!(Symbol.asyncIterator in result)) {
          setResult({
            ...result,
            extensions: { ...result.extensions, cost: { cost, limit: config.LIMIT_COST } },
          });
        }
      },
    };
  };

  return {
    onParse({ params, setParseFn }) {
      const bytes = Buffer.byteLength(String(params.source));
      if (bytes > config.LIMIT_DOCUMENT_BYTES) {
        throw exceeded('document bytes', bytes, config.LIMIT_DOCUMENT_BYTES);
      }
      setParseFn((source) => parseWithin(source, config.LIMIT_TOKENS));
    },
    onValidate({ params: { documentAST }, setResult }) {
      const errors = (documentAST as DocumentNode).definitions
        .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
        .flatMap((operation) => {
          const size = sizeOf(documentAST, operation);
          const rootLimit =
            operation.operation === 'mutation' ? 'LIMIT_ROOT_MUTATIONS' : 'LIMIT_ROOT_FIELDS';
          return [
            ...limits.map(([name, limit]) => [name, size[name], config[limit]] as const),
            ['root fields', size.rootFields, config[rootLimit]] as const,
            ['introspection depth', size.introspectionDepth, INTROSPECTION_DEPTH] as const,
          ];
        })
        .filter(([, value, limit]) => value > limit)
        .map(([name, value, limit]) => exceeded(name, value, limit));
      if (errors.length > 0) setResult(errors);
    },
    onExecute: measureCost,
    onSubscribe: measureCost as never,
  };
}

/** What variables are that the caller leaves out. */
function defaultsOf({ variableDefinitions = [] }: OperationDefinitionNode) {
  return Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)]] : [],
    ),
  );
}

function parseWithin(source: Parameters<typeof parse>[0], maxTokens: number) {
  try {
    return parse(source, { maxTokens });
  } catch (error) {
    if (error instanceof Error && error.message.includes(`more that ${maxTokens} tokens`)) {
      throw exceeded('tokens', maxTokens + 1, maxTokens);
    }
    throw error;
  }
}

function exceeded(limit: string, value: number, maximum: number) {
  const detail = `The ${limit} of this operation is ${value}; the limit is ${maximum}.`;
  return toGraphQLError('QUERY_LIMIT_EXCEEDED', detail, { extra: { limit, value, maximum } });
}
