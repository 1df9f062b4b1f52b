/** Refuses an operation that is too large before anything of it runs. */
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  Lexer,
  type OperationDefinitionNode,
  parse,
  Source,
  TokenKind,
  valueFromASTUntyped,
} from 'graphql';
import type { Config } from '../../config.ts';
import { toGraphQLError } from './graphql-errors.ts';
import { costOf, sizeOf } from './query-size.ts';

/** What the introspection query of today's tools needs, and a little more. */
const INTROSPECTION_DEPTH = 20;

const LIMITS = [
  ['depth', 'LIMIT_DEPTH'],
  ['aliases', 'LIMIT_ALIASES'],
  ['directives', 'LIMIT_DIRECTIVES'],
] as const;

/** Parses a document. Throws a GraphQLError if the text is too long, has too many tokens, or is malformed. */
export function parseWithin(config: Config, text: string): DocumentNode {
  const bytes = Buffer.byteLength(text);
  if (bytes > config.LIMIT_DOCUMENT_BYTES) {
    throw exceeded('document bytes', bytes, config.LIMIT_DOCUMENT_BYTES);
  }
  const maxTokens = config.LIMIT_TOKENS;
  try {
    return parse(text, { maxTokens });
  } catch (error) {
    throw error instanceof GraphQLError ? parseError(text, error, maxTokens) : error;
  }
}

const STRINGS: readonly TokenKind[] = [TokenKind.STRING, TokenKind.BLOCK_STRING];

/** Finds the token at which parsing has ended. A string is not repeated, because it may be a secret. */
function parseError(text: string, error: GraphQLError, maxTokens: number): GraphQLError {
  const failed = (detail: string) => toGraphQLError('GRAPHQL_PARSE_FAILED', detail, { at: error });
  const lexer = new Lexer(new Source(text));
  try {
    for (let count = 1; ; count += 1) {
      const { kind, start } = lexer.advance();
      const isEnd = start === error.positions?.[0];
      if (kind === TokenKind.EOF) return failed(error.message);
      if (count > maxTokens) return exceeded('tokens', count, maxTokens);
      if (isEnd && STRINGS.includes(kind)) return failed('Syntax Error: Unexpected string.');
      if (isEnd) return failed(error.message);
    }
  } catch {
    // The text has no token at that position.
    return failed(error.message);
  }
}

/** Every limit that an operation of the document exceeds. */
export function sizeErrors(config: Config, document: DocumentNode): GraphQLError[] {
  return document.definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .flatMap((operation) => {
      const size = sizeOf(document, operation);
      const rootLimit =
        operation.operation === 'mutation' ? 'LIMIT_ROOT_MUTATIONS' : 'LIMIT_ROOT_FIELDS';
      return [
        ...LIMITS.map(([name, limit]) => [name, size[name], config[limit]] as const),
        ['root fields', size.rootFields, config[rootLimit]] as const,
        ['introspection depth', size.introspectionDepth, INTROSPECTION_DEPTH] as const,
      ];
    })
    .filter(([, value, limit]) => value > limit)
    .map(([name, value, limit]) => exceeded(name, value, limit));
}

export type Cost = (variables: Record<string, unknown> | null | undefined) => number;

/** What a valid operation costs with its variables. */
export function costFunction(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Cost {
  const defaults = defaultsOf(operation);
  const cost = (variables: Record<string, unknown>) =>
    costOf({ schema, document, operation, variables });
  if (!operation.variableDefinitions?.length) {
    const always = cost({});
    return () => always;
  }
  return (variables) => cost({ ...defaults, ...variables });
}

export function costError(cost: number, { LIMIT_COST }: Config): GraphQLError | null {
  return cost > LIMIT_COST ? exceeded('cost', cost, LIMIT_COST) : null;
}

/** The values of variables that the caller leaves out. */
function defaultsOf({ variableDefinitions = [] }: OperationDefinitionNode) {
  return Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)]] : [],
    ),
  );
}

function exceeded(limit: string, value: number, maximum: number) {
  const detail = `The ${limit} of this operation is ${value}; the limit is ${maximum}.`;
  return toGraphQLError('QUERY_LIMIT_EXCEEDED', detail, { extra: { limit, value, maximum } });
}
