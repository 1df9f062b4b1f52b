/**
 * Limits the size and cost of operations before they run. The size is the depth and the numbers of aliases, directives
 * and root fields. The cost is 1 for each object and 100 for each request to a provider, multiplied by the enclosing
 * page sizes. Each fragment is measured once, so that measuring takes linear time.
 */
import {
  type DocumentNode,
  type FieldNode,
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
  type SelectionNode,
  type SelectionSetNode,
  Source,
  TokenKind,
  valueFromASTUntyped,
} from 'graphql';
import { PAGE_DEFAULT } from '../../domain/access/paging/page.ts';
import type { Config } from '../../settings/config.ts';
import { toGraphQLError } from './graphql-errors.ts';

/** The cost of a request to a provider, in objects of the gateway's own database. */
export const PROVIDER_CALL_COST = 100;

/** The cost of an operation, and the maximum number of requests that it sends to providers. */
export interface Cost {
  cost: number;
  providerCalls: number;
}

/** Greater than the depth of common tools' introspection queries. */
const INTROSPECTION_DEPTH_MAX = 20;

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

/** Finds the token at which parsing failed. The error does not repeat a string, which may be a secret. */
function createParseError(text: string, error: GraphQLError, maxTokens: number): GraphQLError {
  const toParseFailure = (detail: string) =>
    toGraphQLError('GRAPHQL_PARSE_FAILED', detail, { cause: error });
  const [position] = error.positions ?? [];
  const lexer = new Lexer(new Source(text));
  let count = 1;
  try {
    while (lexer.advance().kind !== TokenKind.EOF && lexer.token.start !== position) count += 1;
  } catch {
    // The text has no token at that position.
    return toParseFailure(error.message);
  }
  const { kind } = lexer.token;
  if (kind !== TokenKind.EOF && count > maxTokens) {
    return createLimitError('tokens', count, maxTokens);
  }
  const isString = kind === TokenKind.STRING || kind === TokenKind.BLOCK_STRING;
  return toParseFailure(isString ? 'Syntax Error: Unexpected string.' : error.message);
}

/** Returns an error for every limit that an operation of the document exceeds. */
export function listSizeErrors(config: Config, document: DocumentNode): GraphQLError[] {
  return document.definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .flatMap((operation) => {
      const size = createMeasure(document, SIZE)(operation.selectionSet, '');
      const rootLimit =
        operation.operation === 'mutation' ? 'LIMIT_ROOT_MUTATIONS' : 'LIMIT_ROOT_FIELDS';
      const sizes: [name: string, value: number, limit: number][] = [
        ['depth', size.depth, config.LIMIT_DEPTH],
        ['aliases', size.aliases, config.LIMIT_ALIASES],
        ['directives', size.directives + countDirectives(operation), config.LIMIT_DIRECTIVES],
        ['root fields', size.rootFields, config[rootLimit]],
        ['introspection depth', size.introspectionDepth, INTROSPECTION_DEPTH_MAX],
      ];
      return sizes
        .filter(([, value, limit]) => value > limit)
        .map(([name, value, limit]) => createLimitError(name, value, limit));
    });
}

interface CostInput {
  schema: GraphQLSchema;
  document: DocumentNode;
  operation: OperationDefinitionNode;
}

type CostFunction = (variables: Record<string, unknown> | null | undefined) => Cost;

/** Returns a function that computes the cost of a valid operation from its variables. */
export function createCostFunction(input: CostInput): CostFunction {
  const { operation } = input;
  if (!operation.variableDefinitions?.length) {
    const constantCost = measureCost(input, {});
    return () => constantCost;
  }
  const defaults = getDefaults(operation);
  return (variables) => measureCost(input, { ...defaults, ...variables });
}

export function findCostError({ cost }: Cost, { LIMIT_COST }: Config): GraphQLError | null {
  return cost > LIMIT_COST ? createLimitError('cost', cost, LIMIT_COST) : null;
}

/** Returns the defaults of variables, by name. */
function getDefaults({ variableDefinitions = [] }: OperationDefinitionNode) {
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

/** How a property of selections is computed. */
interface Measure<T> {
  empty: T;
  /** Adds the measure of a selection. */
  add(sum: T, part: T, selection: SelectionNode): T;
  measureField(field: FieldNode, parentName: string, measure: MeasureSelections<T>): T;
}

type MeasureSelections<T> = (set: SelectionSetNode, typeName: string) => T;

/** Returns a function that measures selections of a document. It measures each fragment once. */
function createMeasure<T>(
  { definitions }: DocumentNode,
  { empty, add, measureField }: Measure<T>,
): MeasureSelections<T> {
  const fragments = new Map(
    definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  const fragmentResults = new Map<string, T>();

  const measure: MeasureSelections<T> = ({ selections }, typeName) =>
    selections.reduce(
      (sum, selection) => add(sum, measureSelection(selection, typeName), selection),
      empty,
    );

  const measureSelection = (selection: SelectionNode, typeName: string): T => {
    if (selection.kind === Kind.FIELD) return measureField(selection, typeName, measure);
    if (selection.kind === Kind.FRAGMENT_SPREAD) return measureFragment(selection.name.value);
    return measure(selection.selectionSet, selection.typeCondition?.name.value ?? typeName);
  };

  const measureFragment = (name: string): T => {
    const result = fragmentResults.get(name);
    if (result) return result;
    // This ends the recursion for a fragment that contains itself, which validation refuses later.
    fragmentResults.set(name, empty);
    const fragment = fragments.get(name);
    const newResult = fragment
      ? measure(fragment.selectionSet, fragment.typeCondition.name.value)
      : empty;
    fragmentResults.set(name, newResult);
    return newResult;
  };
  return measure;
}

interface QuerySize {
  depth: number;
  introspectionDepth: number;
  aliases: number;
  directives: number;
  rootFields: number;
}

const SIZE: Measure<QuerySize> = {
  empty: { depth: 0, introspectionDepth: 0, aliases: 0, directives: 0, rootFields: 0 },
  add: (sum, size, selection) => ({
    depth: Math.max(sum.depth, size.depth),
    introspectionDepth: Math.max(sum.introspectionDepth, size.introspectionDepth),
    aliases: sum.aliases + size.aliases,
    directives: sum.directives + size.directives + countDirectives(selection),
    rootFields: sum.rootFields + size.rootFields,
  }),
  measureField({ selectionSet, name, alias }, _parentName, measure) {
    const inner = selectionSet ? measure(selectionSet, '') : SIZE.empty;
    const isIntrospection = name.value.startsWith('__');
    const depth = 1 + Math.max(inner.depth, isIntrospection ? inner.introspectionDepth : 0);
    return {
      ...inner,
      depth: isIntrospection ? 1 : depth,
      introspectionDepth: isIntrospection ? depth : inner.introspectionDepth,
      aliases: inner.aliases + (alias ? 1 : 0),
      rootFields: 1,
    };
  },
};

function countDirectives({ directives = [] }: SelectionNode | OperationDefinitionNode): number {
  return directives.length;
}

/** Returns the cost of a valid operation with these variables. */
function measureCost(
  { schema, document, operation }: CostInput,
  variables: Record<string, unknown>,
): Cost {
  const noCost: Cost = { cost: 0, providerCalls: 0 };
  const measure = createMeasure<Cost>(document, {
    empty: noCost,
    add: (sum, { cost, providerCalls }) => ({
      cost: sum.cost + cost,
      providerCalls: sum.providerCalls + providerCalls,
    }),
    measureField(field, parentName, measure) {
      if (!field.selectionSet || field.name.value.startsWith('__')) return noCost;
      const parent = schema.getType(parentName);
      const definition =
        isObjectType(parent) || isInterfaceType(parent)
          ? parent.getFields()[field.name.value]
          : undefined;
      if (!definition) return noCost;
      const inner = measure(field.selectionSet, getNamedType(definition.type).name);
      const itemCost = isWrapper(definition.type) ? 0 : 1;
      const calls = Number(definition.extensions.providerCalls ?? 0);
      const itemCount = countItems(field, definition.args, variables);
      return {
        cost: calls * PROVIDER_CALL_COST + (itemCost + inner.cost) * itemCount,
        providerCalls: calls + inner.providerCalls * itemCount,
      };
    },
  });
  const root = schema.getRootType(operation.operation);
  return root ? measure(operation.selectionSet, root.name) : noCost;
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
