/** Types of values, as rules name them: what a value of the type is, and what both surfaces declare for it. */
import {
  type GraphQLNamedType,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isListType,
  isObjectType,
} from 'graphql';
import { wordOf } from '../../../src/rest/endpoint/words.ts';
import type { DocumentSchema } from '../rest/samples.ts';

interface ValueType {
  words: string;
  fits(value: unknown): boolean;
  inDocument(schema: DocumentSchema): boolean;
  inGraphql(type: GraphQLNamedType): boolean;
  /** What has another type. */
  wrong: unknown;
}

const isObject = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const isNamed =
  (...names: string[]) =>
  ({ name }: GraphQLNamedType) =>
    names.includes(name);
const listOf = (item: ValueType, words: string): ValueType => ({
  words,
  fits: (value) => Array.isArray(value) && value.every(item.fits),
  inDocument: ({ type, items = {} }) => type === 'array' && item.inDocument(items),
  inGraphql: item.inGraphql,
  // GraphQL makes a list of a single value.
  wrong: [item.wrong],
});

const string: ValueType = {
  words: 'a string',
  fits: (value) => typeof value === 'string' && value !== '',
  inDocument: ({ type, format }) => type === 'string' && format !== 'date-time',
  inGraphql: (type) => isNamed('String', 'ID')(type) || isEnumType(type),
  wrong: { text: 1 },
};
const object: ValueType = {
  words: 'an object',
  fits: isObject,
  inDocument: ({ type }) => type === 'object',
  inGraphql: (type) => isNamed('JSONObject')(type) || isObjectType(type),
  wrong: 'text',
};

export const TYPES = {
  string,
  object,
  strings: listOf(string, 'an array of strings'),
  objects: listOf(object, 'an array of objects'),
  boolean: {
    words: 'a boolean',
    fits: (value) => typeof value === 'boolean',
    inDocument: ({ type }) => type === 'boolean',
    inGraphql: isNamed('Boolean'),
    wrong: 'text',
  },
  integer: {
    words: 'an integer',
    fits: Number.isInteger,
    inDocument: ({ type }) => type === 'integer',
    inGraphql: isNamed('Int'),
    wrong: 'text',
  },
  time: {
    words: 'a time in UTC by ISO 8601',
    fits: (value) => typeof value === 'string' && UTC.test(value),
    inDocument: ({ type, format }) => type === 'string' && format === 'date-time',
    inGraphql: isNamed('DateTime'),
    wrong: 'yesterday',
  },
} satisfies Record<string, ValueType>;

export type TypeName = keyof typeof TYPES;

/** An enum's values of a GraphQL type, in REST's words. */
export function wordsOfEnum(type: GraphQLOutputType): string[] {
  const named = getNamedType(type);
  if (!isEnumType(named)) return [];
  return named.getValues().map(({ name }) => wordOf(named.name, name));
}

export function isListed(type: GraphQLOutputType): boolean {
  return isListType(getNullableType(type));
}
