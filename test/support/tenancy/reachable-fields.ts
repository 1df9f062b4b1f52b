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

interface FieldQuery {
  /** The type and its fields, for messages. */
  description: string;
  query: string;
  /** The field that has the arguments. */
  field: Field;
  /** Each is a variable of the query. */
  args: GraphQLArgument[];
}

/**
 * Returns queries of all fields, each with one more level of selections. A field has a query for each set of its
 * arguments. The fields of a type without arguments share a query, if none of the callers gets an error from them: an
 * error may replace other fields by null.
 */
export async function buildQueries(
  fields: ReachableField[],
  callers: Pick<GraphqlClient, 'request'>[],
): Promise<FieldQuery[]> {
  const queries: FieldQuery[] = [];
  const plainFields: ReachableField[] = [];
  for (const reached of fields) {
    for (const args of listArgumentSets(reached.field)) {
      if (args.length === 0) plainFields.push(reached);
      else queries.push(buildQuery([reached], args));
    }
  }
  for (const [, siblings] of Map.groupBy(plainFields, ({ type }) => type)) {
    const failing = await findFailingFields(siblings, callers);
    const [separate, shared] = [true, false].map((fails) =>
      siblings.filter(({ field }) => failing.has(field.name) === fails),
    ) as [ReachableField[], ReachableField[]];
    queries.push(...separate.map((reached) => buildQuery([reached], [])));
    if (shared.length > 0) queries.push(buildQuery(shared, []));
  }
  return queries;
}

/** Returns the names of the fields that cause errors when a caller queries all of them together. */
async function findFailingFields(
  siblings: ReachableField[],
  callers: Pick<GraphqlClient, 'request'>[],
): Promise<Set<string>> {
  const failing = new Set<string>();
  for (const { request } of callers) {
    for (;;) {
      const candidates = siblings.filter(({ field }) => !failing.has(field.name));
      if (candidates.length === 0) return failing;
      const { errors = [] } = await request(buildQuery(candidates, []).query);
      if (errors.length === 0) break;
      const named = candidates.filter(({ field }) =>
        errors.some(({ path }) => path?.includes(field.name)),
      );
      // An error of the type itself concerns all of its fields.
      for (const { field } of named.length > 0 ? named : candidates) failing.add(field.name);
    }
  }
  return failing;
}

/** Returns a query of fields of one type. Only a single field may have arguments. */
function buildQuery(fields: ReachableField[], args: GraphQLArgument[]): FieldQuery {
  const [{ type, field, wrap }] = fields as [ReachableField];
  const { declared, passed } = declareVariables(args);
  const selections = fields.map(
    (reached) => `${reached.field.name}${passed} ${selectResult(reached.field)}`,
  );
  const names = fields.map((reached) => reached.field.name);
  return {
    description: `${type.name}.${names.join(' ')}`,
    query: `query ${declared} ${wrap(selections.join(' '))}`,
    field,
    args,
  };
}

function selectResult(field: Field): string {
  const namedType = getNamedType(field.type);
  if (isLeafType(namedType)) return '';
  return isObjectType(namedType) ? `{ ${selectFields(namedType, 1)} }` : '{ id __typename }';
}
