/**
 * Limits the size and cost of operations before they run. The size is the depth and the numbers of aliases, directives
 * and root fields. The cost is 1 for each object and 100 for each request to a provider, multiplied by the enclosing
 * page sizes. Each fragment is measured once, so that measuring takes linear time.
 */
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

interface QuerySize {
  depth: number;
  introspectionDepth: number;
  aliases: number;
  directives: number;
  rootFields: number;
}

const EMPTY_SIZE: QuerySize = {
  depth: 0,
  introspectionDepth: 0,
  aliases: 0,
  directives: 0,
  rootFields: 0,
};

/** Returns the part of the size that does not depend on variables. */
function measureSize(document: DocumentNode, operation: OperationDefinitionNode): QuerySize {
  const fragments = indexFragments(document);
  const fragmentSizes = new Map<string, QuerySize>();

  const measureSelections = ({ selections }: SelectionSetNode): QuerySize =>
    selections.reduce<QuerySize>((sum, selection) => {
      const directives = (selection.directives ?? []).length;
      if (selection.kind === Kind.FIELD) return addSizes(sum, measureField(selection), directives);
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        return addSizes(sum, measureSelections(selection.selectionSet), directives);
      }
      return addSizes(sum, measureFragment(selection.name.value), directives);
    }, EMPTY_SIZE);

  const measureField = (field: FieldNode): QuerySize => {
    const inner = field.selectionSet ? measureSelections(field.selectionSet) : EMPTY_SIZE;
    const isIntrospection = field.name.value.startsWith('__');
    const depth = 1 + Math.max(inner.depth, isIntrospection ? inner.introspectionDepth : 0);
    return {
      ...inner,
      depth: isIntrospection ? 1 : depth,
      introspectionDepth: isIntrospection ? depth : inner.introspectionDepth,
      aliases: inner.aliases + (field.alias ? 1 : 0),
      rootFields: 1,
    };
  };

  const measureFragment = (name: string): QuerySize => {
    const size = fragmentSizes.get(name);
    if (size) return size;
    // This ends the recursion for a fragment that contains itself, which validation refuses later.
    fragmentSizes.set(name, EMPTY_SIZE);
    const fragment = fragments.get(name);
    const fragmentSize = fragment ? measureSelections(fragment.selectionSet) : EMPTY_SIZE;
    fragmentSizes.set(name, fragmentSize);
    return fragmentSize;
  };

  return addSizes(
    measureSelections(operation.selectionSet),
    EMPTY_SIZE,
    (operation.directives ?? []).length,
  );
}

function addSizes(sum: QuerySize, size: QuerySize, directives: number): QuerySize {
  return {
    depth: Math.max(sum.depth, size.depth),
    introspectionDepth: Math.max(sum.introspectionDepth, size.introspectionDepth),
    aliases: sum.aliases + size.aliases,
    directives: sum.directives + size.directives + directives,
    rootFields: sum.rootFields + size.rootFields,
  };
}

/** The cost of a request to a provider, in objects of the gateway's own database. */
export const PROVIDER_CALL_COST = 100;

/** The cost of an operation, and the maximum number of requests that it sends to providers. */
export interface Cost {
  cost: number;
  providerCalls: number;
}

const NO_COST: Cost = { cost: 0, providerCalls: 0 };

function addCosts(sum: Cost, { cost, providerCalls }: Cost): Cost {
  return { cost: sum.cost + cost, providerCalls: sum.providerCalls + providerCalls };
}

interface CostInput {
  schema: GraphQLSchema;
  document: DocumentNode;
  operation: OperationDefinitionNode;
  variables: Record<string, unknown>;
}

/** Returns the cost of a valid operation with these variables. */
function measureCost({ schema, document, operation, variables }: CostInput): Cost {
  const fragments = indexFragments(document);
  const fragmentCosts = new Map<string, Cost>();

  const measureSelections = (set: SelectionSetNode, typeName: string): Cost =>
    set.selections.reduce((sum, selection) => {
      if (selection.kind === Kind.FIELD) return addCosts(sum, measureField(selection, typeName));
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const inner = selection.typeCondition?.name.value ?? typeName;
        return addCosts(sum, measureSelections(selection.selectionSet, inner));
      }
      return addCosts(sum, measureFragment(selection.name.value));
    }, NO_COST);

  const measureFragment = (name: string): Cost => {
    let cost = fragmentCosts.get(name);
    if (cost === undefined) {
      const fragment = fragments.get(name);
      cost = fragment
        ? measureSelections(fragment.selectionSet, fragment.typeCondition.name.value)
        : NO_COST;
      fragmentCosts.set(name, cost);
    }
    return cost;
  };

  const measureField = (field: FieldNode, parentName: string): Cost => {
    if (!field.selectionSet || field.name.value.startsWith('__')) return NO_COST;
    const parent = schema.getType(parentName);
    const definition =
      isObjectType(parent) || isInterfaceType(parent)
        ? parent.getFields()[field.name.value]
        : undefined;
    if (!definition) return NO_COST;
    const inner = measureSelections(field.selectionSet, getNamedType(definition.type).name);
    const itemCost = isWrapper(definition.type) ? 0 : 1;
    const calls = Number(definition.extensions.providerCalls ?? 0);
    const itemCount = countItems(field, definition.args, variables);
    return {
      cost: calls * PROVIDER_CALL_COST + (itemCost + inner.cost) * itemCount,
      providerCalls: calls + inner.providerCalls * itemCount,
    };
  };

  const root = schema.getRootType(operation.operation);
  return root ? measureSelections(operation.selectionSet, root.name) : NO_COST;
}

/** True for connections, edges and pageInfo, which only wrap other objects. */
function isWrapper(type: GraphQLOutputType): boolean {
  const namedType = getNamedType(type);
  if (!isCompositeType(namedType)) return true;
  return (
    namedType.name === 'PageInfo' ||
    (isObjectType(namedType) &&
      'cursor' in namedType.getFields() &&
      'node' in namedType.getFields()) ||
    (isObjectType(namedType) && 'pageInfo' in namedType.getFields())
  );
}

/** Returns the maximum number of items of a field: its page size, or the number of its ids. */
function countItems(
  field: FieldNode,
  args: readonly { name: string }[],
  variables: Record<string, unknown>,
): number {
  const findArgument = (name: string): unknown => {
    const value = field.arguments?.find((argument) => argument.name.value === name)?.value;
    if (value?.kind === Kind.INT) return Number(value.value);
    if (value?.kind === Kind.LIST) return value.values;
    if (value?.kind === Kind.VARIABLE) return variables[value.name.value];
    return undefined;
  };
  const names = args.map((arg) => arg.name);
  if (names.includes('first')) {
    const size = findArgument('first') ?? findArgument('last');
    return typeof size === 'number' && size > 0 ? size : PAGE_DEFAULT;
  }
  const ids = names.includes('ids') ? findArgument('ids') : undefined;
  return Array.isArray(ids) ? ids.length : 1;
}

function indexFragments(document: DocumentNode): Map<string, FragmentDefinitionNode> {
  return new Map(
    document.definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
}

/** Greater than the depth of common tools' introspection queries. */
const INTROSPECTION_DEPTH_MAX = 20;

const LIMITS = [
  ['depth', 'LIMIT_DEPTH'],
  ['aliases', 'LIMIT_ALIASES'],
  ['directives', 'LIMIT_DIRECTIVES'],
] as const;

/** Parses a document. Throws a GraphQLError if the text is too long, has too many tokens, or is malformed. */
export function parseDocument(config: Config, text: string): DocumentNode {
  const bytes = Buffer.byteLength(text);
  if (bytes > config.LIMIT_DOCUMENT_BYTES) {
    throw createLimitError('document bytes', bytes, config.LIMIT_DOCUMENT_BYTES);
  }
  const maxTokens = config.LIMIT_TOKENS;
  try {
    return parse(text, { maxTokens });
  } catch (error) {
    throw error instanceof GraphQLError ? createParseError(text, error, maxTokens) : error;
  }
}

const STRING_TOKENS: readonly TokenKind[] = [TokenKind.STRING, TokenKind.BLOCK_STRING];

/** Finds the token at which parsing failed. The error does not repeat a string, which may be a secret. */
function createParseError(text: string, error: GraphQLError, maxTokens: number): GraphQLError {
  const toParseFailure = (detail: string) =>
    toGraphQLError('GRAPHQL_PARSE_FAILED', detail, { cause: error });
  const lexer = new Lexer(new Source(text));
  try {
    for (let count = 1; ; count += 1) {
      const { kind, start } = lexer.advance();
      const isEnd = start === error.positions?.[0];
      if (kind === TokenKind.EOF) return toParseFailure(error.message);
      if (count > maxTokens) return createLimitError('tokens', count, maxTokens);
      if (isEnd && STRING_TOKENS.includes(kind))
        return toParseFailure('Syntax Error: Unexpected string.');
      if (isEnd) return toParseFailure(error.message);
    }
  } catch {
    // The text has no token at that position.
    return toParseFailure(error.message);
  }
}

/** Returns an error for every limit that an operation of the document exceeds. */
export function listSizeErrors(config: Config, document: DocumentNode): GraphQLError[] {
  return document.definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .flatMap((operation) => {
      const size = measureSize(document, operation);
      const rootLimit =
        operation.operation === 'mutation' ? 'LIMIT_ROOT_MUTATIONS' : 'LIMIT_ROOT_FIELDS';
      return [
        ...LIMITS.map(([name, limit]) => [name, size[name], config[limit]] as const),
        ['root fields', size.rootFields, config[rootLimit]] as const,
        ['introspection depth', size.introspectionDepth, INTROSPECTION_DEPTH_MAX] as const,
      ];
    })
    .filter(([, value, limit]) => value > limit)
    .map(([name, value, limit]) => createLimitError(name, value, limit));
}

type CostFunction = (variables: Record<string, unknown> | null | undefined) => Cost;

/** Returns a function that computes the cost of a valid operation from its variables. */
export function createCostFunction({
  schema,
  document,
  operation,
}: Omit<CostInput, 'variables'>): CostFunction {
  const measure = (variables: Record<string, unknown>) =>
    measureCost({ schema, document, operation, variables });
  if (!operation.variableDefinitions?.length) {
    const constantCost = measure({});
    return () => constantCost;
  }
  const defaults = listDefaults(operation);
  return (variables) => measure({ ...defaults, ...variables });
}

export function findCostError({ cost }: Cost, { LIMIT_COST }: Config): GraphQLError | null {
  return cost > LIMIT_COST ? createLimitError('cost', cost, LIMIT_COST) : null;
}

/** Returns the defaults of variables, by name. */
function listDefaults({ variableDefinitions = [] }: OperationDefinitionNode) {
  return Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)]] : [],
    ),
  );
}

function createLimitError(limit: string, value: number, maximum: number) {
  const detail = `The ${limit} of this operation is ${value}; the limit is ${maximum}.`;
  return toGraphQLError('QUERY_LIMIT_EXCEEDED', detail, { extra: { limit, value, maximum } });
}
