/** Checks one field over GraphQL: its declaration in the schema, and its value in a response. */
import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isEnumType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { expect } from 'vitest';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { toWord } from '../../../src/rest/endpoint/words.ts';
import type { Fixture } from './fixture.ts';
import { getValueAt } from './json-paths.ts';
import type { FieldRule, Resource } from './resource.ts';
import { isList, listEnumValues, TYPES } from './value-types.ts';

type Field = GraphQLField<unknown, unknown>;

export async function checkGraphqlField(fixture: Fixture, resource: Resource, field: string) {
  const rule = resource.fields[field] as FieldRule;
  const path = rule.graphql ?? field;
  const [, otherType, within = path] = /^([A-Z]\w+)\.(.+)$/.exec(path) ?? [];
  const root = otherType ?? resource.type;
  const { type, isRequired } = findField(root, within);
  if (rule.isRequired) expect(isRequired, 'the schema declares the field as required').toBe(true);
  expect(TYPES[rule.type].matchesGraphql(getNamedType(type) as GraphQLObjectType)).toBe(true);
  expect(isList(type)).toBe(rule.type.endsWith('s'));
  if (rule.values) expect(listEnumValues(type).sort()).toEqual([...rule.values].sort());
  if (otherType) return;
  const { queryGraphql = queryAsNode(resource) } = resource;
  const response = await queryGraphql(fixture, toSelection(within, type));
  const value = getValueAt(response, within);
  if (rule.isUnset) return expect(value).toBe(null);
  const namedType = getNamedType(type);
  const isWord = isEnumType(namedType) && typeof value === 'string';
  const wireValue = isWord ? toWord(namedType.name, value) : value;
  expect(TYPES[rule.type].isValid(wireValue), `${within} is ${JSON.stringify(value)}`).toBe(true);
}

function findField(root: string, path: string) {
  let type: GraphQLOutputType = schema.getType(root) as GraphQLObjectType;
  let isRequired = true;
  for (const step of path.split('.')) {
    const namedType: GraphQLNamedType = getNamedType(type);
    const field: Field | undefined = isObjectType(namedType)
      ? namedType.getFields()[step]
      : undefined;
    if (!field) throw new Error(`GraphQL has no ${root}.${path}.`);
    type = field.type;
    isRequired &&= isNonNullType(type);
  }
  return { type, isRequired };
}

function toSelection(path: string, type: GraphQLOutputType): string {
  const leaf = isObjectType(getNamedType(type)) ? ' { __typename }' : '';
  return path
    .split('.')
    .reduceRight((inner, step) => (inner === '' ? `${step}${leaf}` : `${step} { ${inner} }`), '');
}

function queryAsNode({ type, load }: Resource): NonNullable<Resource['queryGraphql']> {
  return async (fixture, selection) => {
    const { id } = (await load(fixture)) as { id: string };
    return queryNode(fixture.tenant, { id, type, selection });
  };
}

export async function queryNode(
  { query }: Pick<Fixture['tenant'], 'query'>,
  { id, type, selection }: { id: string; type: string; selection: string },
) {
  const text = `query GetNode($id: ID!) { node(id: $id) { ... on ${type} { ${selection} } } }`;
  return (await query(text, { id })).node;
}
