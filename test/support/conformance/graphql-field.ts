/** One field over GraphQL: what the schema declares, and what an answer shows. */
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
import { wordOf } from '../../../src/rest/endpoint/words.ts';
import { valueAt } from './places.ts';
import type { FieldRule, Resource } from './resource.ts';
import type { Scene } from './scene.ts';
import { isListed, TYPES, wordsOfEnum } from './value-types.ts';

type Field = GraphQLField<unknown, unknown>;

export async function checkGraphql(scene: Scene, resource: Resource, field: string) {
  const rule = resource.fields[field] as FieldRule;
  const place = rule.graphql ?? field;
  const [, elsewhere, within = place] = /^([A-Z]\w+)\.(.+)$/.exec(place) ?? [];
  const root = elsewhere ?? resource.type;
  const { type, isRequired } = typeAt(root, within);
  if (rule.isRequired) expect(isRequired, 'the schema says that it is always there').toBe(true);
  expect(TYPES[rule.is].inGraphql(getNamedType(type) as GraphQLObjectType)).toBe(true);
  expect(isListed(type)).toBe(rule.is.endsWith('s'));
  if (rule.oneOf) expect(wordsOfEnum(type).sort()).toEqual([...rule.oneOf].sort());
  if (elsewhere) return;
  const { shownByGraphql = shownAsNode(resource) } = resource;
  const shown = await shownByGraphql(scene, selectionOf(within, type));
  const value = valueAt(shown, within);
  if (rule.isUnset) return expect(value).toBe(null);
  const named = getNamedType(type);
  const isWord = isEnumType(named) && typeof value === 'string';
  const read = isWord ? wordOf(named.name, value) : value;
  expect(TYPES[rule.is].fits(read), `${within} is ${JSON.stringify(value)}`).toBe(true);
}

function typeAt(root: string, place: string) {
  let type: GraphQLOutputType = schema.getType(root) as GraphQLObjectType;
  let isRequired = true;
  for (const step of place.split('.')) {
    const named: GraphQLNamedType = getNamedType(type);
    const field: Field | undefined = isObjectType(named) ? named.getFields()[step] : undefined;
    if (!field) throw new Error(`GraphQL has no ${root}.${place}.`);
    type = field.type;
    isRequired &&= isNonNullType(type);
  }
  return { type, isRequired };
}

function selectionOf(place: string, type: GraphQLOutputType): string {
  const leaf = isObjectType(getNamedType(type)) ? ' { __typename }' : '';
  return place
    .split('.')
    .reduceRight((inner, step) => (inner === '' ? `${step}${leaf}` : `${step} { ${inner} }`), '');
}

function shownAsNode({ type, shown }: Resource): NonNullable<Resource['shownByGraphql']> {
  return async (scene, selection) => {
    const { id } = (await shown(scene)) as { id: string };
    return nodeOf(scene.tenant, { id, type, selection });
  };
}

export async function nodeOf(
  { query }: Pick<Scene['tenant'], 'query'>,
  { id, type, selection }: { id: string; type: string; selection: string },
) {
  const text = `query ($id: ID!) { node(id: $id) { ... on ${type} { ${selection} } } }`;
  return (await query(text, { id })).node;
}
