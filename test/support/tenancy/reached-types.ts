/** Every field of every type that a caller reaches, each with a query that leads to it. */
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
import { type Foreign, foreignArgument, isLookUp } from './foreign-values.ts';
import { argumentSets, leaves, variablesOf } from './selections.ts';

type Field = GraphQLField<unknown, unknown>;
/** Puts a selection of a type into the query that leads to it. */
type Way = (selection: string) => string;

export interface Reached {
  type: GraphQLObjectType;
  field: Field;
  way: Way;
}

/** Lists by pages of a few items: whole ones would cost more than a query may. */
const FEW = 'first: 3';

/** From what the caller has itself. */
export async function reachedFields(caller: GraphqlClient, own: Foreign): Promise<Reached[]> {
  const root = schema.getQueryType() as GraphQLObjectType;
  const ways = new Map<GraphQLObjectType, Way>([[root, (selection) => `{ ${selection} }`]]);
  // A map gives what is added while it is gone through.
  for (const [type, way] of ways) {
    for (const field of Object.values(type.getFields())) {
      // Lists lead other callers to objects of their own, a look-up by id to none.
      if (isLookUp(type, field)) continue;
      const named = getNamedType(field.type);
      if (!isObjectType(named) || ways.has(named)) continue;
      const next: Way = (selection) => way(`${calling(field, own)} { ${selection} }`);
      const { data } = await caller.request(next('__typename'));
      if (JSON.stringify(data ?? null).includes(`"__typename":"${named.name}"`)) {
        ways.set(named, next);
      }
    }
  }
  return [...ways].flatMap(([type, way]) =>
    Object.values(type.getFields()).map((field) => ({ type, field, way })),
  );
}

function calling(field: Field, own: Foreign): string {
  const [first = []] = field.extensions.keys ? argumentSets(field) : [];
  const given = field.args
    .filter((arg) => isNonNullType(arg.type) || first.includes(arg))
    .map((arg) => `${arg.name}: ${JSON.stringify(foreignArgument(field, arg, own))}`);
  const all = field.args.some(({ name }) => name === 'first') ? [...given, FEW] : given;
  return `${field.name}${all.length > 0 ? `(${all.join(', ')})` : ''}`;
}

/** Queries of the field with its arguments as variables, as deep as one more level: one for each set of arguments. */
export function askingFor({ field, way }: Pick<Reached, 'field' | 'way'>) {
  return argumentSets(field).map((args) => asking({ field, way }, args));
}

function asking({ field, way }: Pick<Reached, 'field' | 'way'>, args: GraphQLArgument[]) {
  const named = getNamedType(field.type);
  const { declared, passed } = variablesOf(args);
  const selection = isLeafType(named)
    ? ''
    : isObjectType(named)
      ? `{ ${leaves(named, 1)} }`
      : '{ id __typename }';
  return { query: `query ${declared} ${way(`${field.name}${passed} ${selection}`)}`, args };
}
