/** The types of fields: which values fit, and how both surfaces declare them. */
import {
  type GraphQLNamedType,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isListType,
  isObjectType,
} from 'graphql';
import { toWord } from '../../../src/rest/endpoint/words.ts';
import type { DocumentSchema } from '../rest/samples.ts';

interface ValueType {
  description: string;
  isValid(value: unknown): boolean;
  matchesDocument(schema: DocumentSchema): boolean;
  matchesGraphql(type: GraphQLNamedType): boolean;
  /** A value of another type. */
  invalidValue: unknown;
}

const isObject = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const UTC_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const hasName =
  (...names: string[]) =>
  ({ name }: GraphQLNamedType) =>
    names.includes(name);
const createList = (item: ValueType, description: string): ValueType => ({
  description,
  isValid: (value) => Array.isArray(value) && value.every(item.isValid),
  matchesDocument: ({ type, items = {} }) => type === 'array' && item.matchesDocument(items),
  matchesGraphql: item.matchesGraphql,
  // A single wrong value would not do: GraphQL coerces it to a list.
  invalidValue: [item.invalidValue],
});

const string: ValueType = {
  description: 'a string',
  isValid: (value) => typeof value === 'string' && value !== '',
  matchesDocument: ({ type, format }) => type === 'string' && format !== 'date-time',
  matchesGraphql: (type) => hasName('String', 'ID')(type) || isEnumType(type),
  invalidValue: { text: 1 },
};
const object: ValueType = {
  description: 'an object',
  isValid: isObject,
  matchesDocument: ({ type }) => type === 'object',
  matchesGraphql: (type) => hasName('JSONObject')(type) || isObjectType(type),
  invalidValue: 'text',
};

export const TYPES = {
  string,
  object,
  strings: createList(string, 'an array of strings'),
  objects: createList(object, 'an array of objects'),
  boolean: {
    description: 'a boolean',
    isValid: (value) => typeof value === 'boolean',
    matchesDocument: ({ type }) => type === 'boolean',
    matchesGraphql: hasName('Boolean'),
    invalidValue: 'text',
  },
  integer: {
    description: 'an integer',
    isValid: Number.isInteger,
    matchesDocument: ({ type }) => type === 'integer',
    matchesGraphql: hasName('Int'),
    invalidValue: 'text',
  },
  time: {
    description: 'a time in UTC by ISO 8601',
    isValid: (value) => typeof value === 'string' && UTC_TIME.test(value),
    matchesDocument: ({ type, format }) => type === 'string' && format === 'date-time',
    matchesGraphql: hasName('DateTime'),
    invalidValue: 'yesterday',
  },
} satisfies Record<string, ValueType>;

export type TypeName = keyof typeof TYPES;

/** Returns the values of an enum as REST writes them. */
export function listEnumValues(type: GraphQLOutputType): string[] {
  const namedType = getNamedType(type);
  if (!isEnumType(namedType)) return [];
  return namedType.getValues().map(({ name }) => toWord(namedType.name, name));
}

export function isList(type: GraphQLOutputType): boolean {
  return isListType(getNullableType(type));
}
