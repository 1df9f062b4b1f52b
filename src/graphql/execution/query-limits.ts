/** Refuses an operation that is too large before anything of it runs. */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  Lexer,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  Source,
  TokenKind,
  valueFromASTUntyped,
} from 'graphql';
import type { Config } from '../../config.ts';
import { PAGE_DEFAULT } from '../../domain/paging/page.ts';
import { toGraphQLError } from './graphql-errors.ts';

/**
 * Measures an operation before it runs: depth, aliases, directives, root fields, and its cost. Each object costs 1, and
 * a field its declared cost, multiplied by the page sizes around it. Each fragment is measured once, so that measuring
 * takes linear time.
 */

interface QuerySize {
  depth: number;
  introspectionDepth: number;
  aliases: number;
  directives: number;
  rootFields: number;
}

const NOTHING: QuerySize = {
  depth: 0,
  introspectionDepth: 0,
  aliases: 0,
  directives: 0,
  rootFields: 0,
};

/** The part of the size that does not depend on variables. */
function sizeOf(document: DocumentNode, operation: OperationDefinitionNode): QuerySize {
  const fragments = fragmentsOf(document);
  const known = new Map<string, QuerySize>();

  const ofSelections = ({ selections }: SelectionSetNode): QuerySize =>
    selections.reduce<QuerySize>((sum, selection) => {
      const own = (selection.directives ?? []).length;
      if (selection.kind === Kind.FIELD) return add(sum, ofField(selection), own);
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        return add(sum, ofSelections(selection.selectionSet), own);
      }
      return add(sum, ofFragment(selection.name.value), own);
    }, NOTHING);

  const ofField = (field: FieldNode): QuerySize => {
    const inner = field.selectionSet ? ofSelections(field.selectionSet) : NOTHING;
    const introspects = field.name.value.startsWith('__');
    const depth = 1 + Math.max(inner.depth, introspects ? inner.introspectionDepth : 0);
    return {
      ...inner,
      depth: introspects ? 1 : depth,
      introspectionDepth: introspects ? depth : inner.introspectionDepth,
      aliases: inner.aliases + (field.alias ? 1 : 0),
      rootFields: 1,
    };
  };

  const ofFragment = (name: string): QuerySize => {
    const size = known.get(name);
    if (size) return size;
    // Validation refuses a fragment that contains itself. Here, the recursion only has to end.
    known.set(name, NOTHING);
    const fragment = fragments.get(name);
    const measured = fragment ? ofSelections(fragment.selectionSet) : NOTHING;
    known.set(name, measured);
    return measured;
  };

  return add(ofSelections(operation.selectionSet), NOTHING, (operation.directives ?? []).length);
}

function add(a: QuerySize, b: QuerySize, directives: number): QuerySize {
  return {
    depth: Math.max(a.depth, b.depth),
    introspectionDepth: Math.max(a.introspectionDepth, b.introspectionDepth),
    aliases: a.aliases + b.aliases,
    directives: a.directives + b.directives + directives,
    rootFields: a.rootFields + b.rootFields,
  };
}

interface CostQuestion {
  schema: GraphQLSchema;
  document: DocumentNode;
  operation: OperationDefinitionNode;
  variables: Record<string, unknown>;
}

/** The cost of a valid operation with its variables. */
function costOf({ schema, document, operation, variables }: CostQuestion): number {
  const fragments = fragmentsOf(document);
  const known = new Map<string, number>();

  const ofSelections = (set: SelectionSetNode, typeName: string): number =>
    set.selections.reduce((sum, selection) => {
      if (selection.kind === Kind.FIELD) return sum + ofField(selection, typeName);
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const inner = selection.typeCondition?.name.value ?? typeName;
        return sum + ofSelections(selection.selectionSet, inner);
      }
      return sum + ofFragment(selection.name.value);
    }, 0);

  const ofFragment = (name: string): number => {
    let cost = known.get(name);
    if (cost === undefined) {
      const fragment = fragments.get(name);
      cost = fragment ? ofSelections(fragment.selectionSet, fragment.typeCondition.name.value) : 0;
      known.set(name, cost);
    }
    return cost;
  };

  const ofField = (field: FieldNode, parentName: string): number => {
    if (!field.selectionSet || field.name.value.startsWith('__')) return 0;
    const parent = schema.getType(parentName);
    const definition =
      isObjectType(parent) || isInterfaceType(parent)
        ? parent.getFields()[field.name.value]
        : undefined;
    if (!definition) return 0;
    const inner = ofSelections(field.selectionSet, getNamedType(definition.type).name);
    const own = countsNothing(definition.type) ? 0 : 1;
    const asked = Number(definition.extensions.cost ?? 0);
    return asked + (own + inner) * timesOf(field, definition.args, variables);
  };

  const root = schema.getRootType(operation.operation);
  return root ? ofSelections(operation.selectionSet, root.name) : 0;
}

/** Connections, edges and pageInfo cost nothing, because they only wrap other objects. */
function countsNothing(type: GraphQLOutputType): boolean {
  const named = getNamedType(type);
  if (!isCompositeType(named)) return true;
  return (
    named.name === 'PageInfo' ||
    (isObjectType(named) && 'cursor' in named.getFields() && 'node' in named.getFields()) ||
    (isObjectType(named) && 'pageInfo' in named.getFields())
  );
}

/** The most items that a field returns: its page size, or the number of its ids. */
function timesOf(
  field: FieldNode,
  args: readonly { name: string }[],
  variables: Record<string, unknown>,
): number {
  const given = (name: string): unknown => {
    const value = field.arguments?.find((argument) => argument.name.value === name)?.value;
    if (value?.kind === Kind.INT) return Number(value.value);
    if (value?.kind === Kind.LIST) return value.values;
    if (value?.kind === Kind.VARIABLE) return variables[value.name.value];
    return undefined;
  };
  const names = args.map((arg) => arg.name);
  if (names.includes('first')) {
    const size = given('first') ?? given('last');
    return typeof size === 'number' && size > 0 ? size : PAGE_DEFAULT;
  }
  const ids = names.includes('ids') ? given('ids') : undefined;
  return Array.isArray(ids) ? ids.length : 1;
}

function fragmentsOf(document: DocumentNode): Map<string, FragmentDefinitionNode> {
  return new Map(
    document.definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
}

/** The introspection queries of common tools stay below this depth. */
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

/** The defaults of variables that the caller omits. */
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
