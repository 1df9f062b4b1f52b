/** Finds every field that a caller can reach, with a query for each. */
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { schema } from '../../../src/graphql/schema/schema.ts';
import type { GraphqlClient } from '../graphql-client.ts';
import { createForeignArgument, type Foreign, isLookup } from './foreign-values.ts';
import { declareVariables, listArgumentSets, selectFields } from './selections.ts';

type Field = GraphQLField<unknown, unknown>;
/** Wraps a selection of a type in the query that reaches the type. */
type WrapSelection = (selection: string) => string;

interface ReachableField {
  type: GraphQLObjectType;
  field: Field;
  wrap: WrapSelection;
}

/** Limits lists to a few items, so that the query stays within the cost limit. */
const PAGE_ARGUMENT = 'first: 3';

/** Follows the fields of the query type, with the caller's own objects as arguments. */
export async function findReachableFields(
  caller: GraphqlClient,
  ownValues: Foreign,
): Promise<ReachableField[]> {
  const root = schema.getQueryType() as GraphQLObjectType;
  const wrapsByType = new Map<GraphQLObjectType, WrapSelection>([
    [root, (selection) => `{ ${selection} }`],
  ]);
  // Iterating a map includes entries that are added during the iteration.
  for (const [type, wrap] of wrapsByType) {
    for (const field of Object.values(type.getFields())) {
      // Look-ups by ID are skipped: another caller who repeats the query would reach nothing. Lists reach
      // that caller's own objects.
      if (isLookup(type, field)) continue;
      const namedType = getNamedType(field.type);
      if (!isObjectType(namedType) || wrapsByType.has(namedType)) continue;
      const wrapNext: WrapSelection = (selection) =>
        wrap(`${callField(field, ownValues)} { ${selection} }`);
      const { data } = await caller.request(wrapNext('__typename'));
      if (JSON.stringify(data ?? null).includes(`"__typename":"${namedType.name}"`)) {
        wrapsByType.set(namedType, wrapNext);
      }
    }
  }
  return [...wrapsByType].flatMap(([type, wrap]) =>
    Object.values(type.getFields()).map((field) => ({ type, field, wrap })),
  );
}

function callField(field: Field, ownValues: Foreign): string {
  const [firstSet = []] = field.extensions.argumentSets ? listArgumentSets(field) : [];
  const passed = field.args
    .filter((arg) => isNonNullType(arg.type) || firstSet.includes(arg))
    .map((arg) => `${arg.name}: ${JSON.stringify(createForeignArgument(field, arg, ownValues))}`);
  const allArguments = field.args.some(({ name }) => name === 'first')
    ? [...passed, PAGE_ARGUMENT]
    : passed;
  return `${field.name}${allArguments.length > 0 ? `(${allArguments.join(', ')})` : ''}`;
}

/**
 * Returns a query of the field for each set of its arguments, which are variables. Selects one more level.
 */
export function buildQueries({ field, wrap }: Pick<ReachableField, 'field' | 'wrap'>) {
  return listArgumentSets(field).map((args) => buildQuery({ field, wrap }, args));
}

function buildQuery(
  { field, wrap }: Pick<ReachableField, 'field' | 'wrap'>,
  args: GraphQLArgument[],
) {
  const namedType = getNamedType(field.type);
  const { declared, passed } = declareVariables(args);
  const selection = isLeafType(namedType)
    ? ''
    : isObjectType(namedType)
      ? `{ ${selectFields(namedType, 1)} }`
      : '{ id __typename }';
  return { query: `query ${declared} ${wrap(`${field.name}${passed} ${selection}`)}`, args };
}
