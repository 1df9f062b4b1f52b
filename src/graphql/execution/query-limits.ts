/** Rejects an operation that is too large before any part of it runs. */
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
 * a request to a provider 100, multiplied by the page sizes around it. Each fragment is measured once, so that measuring
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

/** Returns the part of the size that does not depend on variables. */
function measureSize(document: DocumentNode, operation: OperationDefinitionNode): QuerySize {
  const fragments = indexFragments(document);
  const fragmentSizes = new Map<string, QuerySize>();

  const sizeOfSelections = ({ selections }: SelectionSetNode): QuerySize =>
    selections.reduce<QuerySize>((sum, selection) => {
      const directives = (selection.directives ?? []).length;
      if (selection.kind === Kind.FIELD) return add(sum, sizeOfField(selection), directives);
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        return add(sum, sizeOfSelections(selection.selectionSet), directives);
      }
      return add(sum, sizeOfFragment(selection.name.value), directives);
    }, NOTHING);

  const sizeOfField = (field: FieldNode): QuerySize => {
    const inner = field.selectionSet ? sizeOfSelections(field.selectionSet) : NOTHING;
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

  const sizeOfFragment = (name: string): QuerySize => {
    const size = fragmentSizes.get(name);
    if (size) return size;
    // Validation rejects a fragment that contains itself. Here, the recursion only has to end.
    fragmentSizes.set(name, NOTHING);
    const fragment = fragments.get(name);
    const measured = fragment ? sizeOfSelections(fragment.selectionSet) : NOTHING;
    fragmentSizes.set(name, measured);
    return measured;
  };

  return add(
    sizeOfSelections(operation.selectionSet),
    NOTHING,
    (operation.directives ?? []).length,
  );
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

/** The cost of a request to a provider, in objects of the gateway's own database. */
const PROVIDER_CALL_COST = 100;

/** The cost of an operation, and the most requests to providers that it may send. */
export interface Cost {
  cost: number;
  providerCalls: number;
}

const FREE: Cost = { cost: 0, providerCalls: 0 };

function addCosts(a: Cost, b: Cost): Cost {
  return { cost: a.cost + b.cost, providerCalls: a.providerCalls + b.providerCalls };
}

interface CostQuestion {
  schema: GraphQLSchema;
  document: DocumentNode;
  operation: OperationDefinitionNode;
  variables: Record<string, unknown>;
}

/** Returns the cost of a valid operation with its variables. */
function measureCost({ schema, document, operation, variables }: CostQuestion): Cost {
  const fragments = indexFragments(document);
  const fragmentCosts = new Map<string, Cost>();

  const costOfSelections = (set: SelectionSetNode, typeName: string): Cost =>
    set.selections.reduce((sum, selection) => {
      if (selection.kind === Kind.FIELD) return addCosts(sum, costOfField(selection, typeName));
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const inner = selection.typeCondition?.name.value ?? typeName;
        return addCosts(sum, costOfSelections(selection.selectionSet, inner));
      }
      return addCosts(sum, costOfFragment(selection.name.value));
    }, FREE);

  const costOfFragment = (name: string): Cost => {
    let cost = fragmentCosts.get(name);
    if (cost === undefined) {
      const fragment = fragments.get(name);
      cost = fragment
        ? costOfSelections(fragment.selectionSet, fragment.typeCondition.name.value)
        : FREE;
      fragmentCosts.set(name, cost);
    }
    return cost;
  };

  const costOfField = (field: FieldNode, parentName: string): Cost => {
    if (!field.selectionSet || field.name.value.startsWith('__')) return FREE;
    const parent = schema.getType(parentName);
    const definition =
      isObjectType(parent) || isInterfaceType(parent)
        ? parent.getFields()[field.name.value]
        : undefined;
    if (!definition) return FREE;
    const inner = costOfSelections(field.selectionSet, getNamedType(definition.type).name);
    const itemCost = isFree(definition.type) ? 0 : 1;
    const calls = Number(definition.extensions.providerCalls ?? 0);
    const times = countItems(field, definition.args, variables);
    return {
      cost: calls * PROVIDER_CALL_COST + (itemCost + inner.cost) * times,
      providerCalls: calls + inner.providerCalls * times,
    };
  };

  const root = schema.getRootType(operation.operation);
  return root ? costOfSelections(operation.selectionSet, root.name) : FREE;
}

/** True for connections, edges and pageInfo, which only wrap other objects. */
function isFree(type: GraphQLOutputType): boolean {
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
  const argumentValue = (name: string): unknown => {
    const value = field.arguments?.find((argument) => argument.name.value === name)?.value;
    if (value?.kind === Kind.INT) return Number(value.value);
    if (value?.kind === Kind.LIST) return value.values;
    if (value?.kind === Kind.VARIABLE) return variables[value.name.value];
    return undefined;
  };
  const names = args.map((arg) => arg.name);
  if (names.includes('first')) {
    const size = argumentValue('first') ?? argumentValue('last');
    return typeof size === 'number' && size > 0 ? size : PAGE_DEFAULT;
  }
  const ids = names.includes('ids') ? argumentValue('ids') : undefined;
  return Array.isArray(ids) ? ids.length : 1;
}

function indexFragments(document: DocumentNode): Map<string, FragmentDefinitionNode> {
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
    throw limitError('document bytes', bytes, config.LIMIT_DOCUMENT_BYTES);
  }
  const maxTokens = config.LIMIT_TOKENS;
  try {
    return parse(text, { maxTokens });
  } catch (error) {
    throw error instanceof GraphQLError ? parseError(text, error, maxTokens) : error;
  }
}

const STRINGS: readonly TokenKind[] = [TokenKind.STRING, TokenKind.BLOCK_STRING];

/** Finds the token at which parsing failed. A string is not repeated in the error, because it may be a secret. */
function parseError(text: string, error: GraphQLError, maxTokens: number): GraphQLError {
  const toParseFailure = (detail: string) =>
    toGraphQLError('GRAPHQL_PARSE_FAILED', detail, { cause: error });
  const lexer = new Lexer(new Source(text));
  try {
    for (let count = 1; ; count += 1) {
      const { kind, start } = lexer.advance();
      const isEnd = start === error.positions?.[0];
      if (kind === TokenKind.EOF) return toParseFailure(error.message);
      if (count > maxTokens) return limitError('tokens', count, maxTokens);
      if (isEnd && STRINGS.includes(kind))
        return toParseFailure('Syntax Error: Unexpected string.');
      if (isEnd) return toParseFailure(error.message);
    }
  } catch {
    // The text has no token at that position.
    return toParseFailure(error.message);
  }
}

/** Returns an error for every limit that an operation of the document exceeds. */
export function sizeErrors(config: Config, document: DocumentNode): GraphQLError[] {
  return document.definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .flatMap((operation) => {
      const size = measureSize(document, operation);
      const rootLimit =
        operation.operation === 'mutation' ? 'LIMIT_ROOT_MUTATIONS' : 'LIMIT_ROOT_FIELDS';
      return [
        ...LIMITS.map(([name, limit]) => [name, size[name], config[limit]] as const),
        ['root fields', size.rootFields, config[rootLimit]] as const,
        ['introspection depth', size.introspectionDepth, INTROSPECTION_DEPTH] as const,
      ];
    })
    .filter(([, value, limit]) => value > limit)
    .map(([name, value, limit]) => limitError(name, value, limit));
}

export type CostFunction = (variables: Record<string, unknown> | null | undefined) => Cost;

/** Returns a function that computes the cost of a valid operation from its variables. */
export function costFunction(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): CostFunction {
  const defaults = listDefaults(operation);
  const cost = (variables: Record<string, unknown>) =>
    measureCost({ schema, document, operation, variables });
  if (!operation.variableDefinitions?.length) {
    const constantCost = cost({});
    return () => constantCost;
  }
  return (variables) => cost({ ...defaults, ...variables });
}

export function costError({ cost }: Cost, { LIMIT_COST }: Config): GraphQLError | null {
  return cost > LIMIT_COST ? limitError('cost', cost, LIMIT_COST) : null;
}

/** Returns the defaults of variables, by name. */
function listDefaults({ variableDefinitions = [] }: OperationDefinitionNode) {
  return Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)]] : [],
    ),
  );
}

function limitError(limit: string, value: number, maximum: number) {
  const detail = `The ${limit} of this operation is ${value}; the limit is ${maximum}.`;
  return toGraphQLError('QUERY_LIMIT_EXCEEDED', detail, { extra: { limit, value, maximum } });
}
