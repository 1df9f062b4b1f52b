/**
 * The canonical form of project documents, in which equal projects are equal: members are in the order of the schema, lists
 * of names are sorted, and defaults are omitted.
 */
import { z } from 'zod';
import { unwrapSchema } from '../../kernel/unwrap-schema.ts';
import { isObject } from '../../work/is-object.ts';
import { convertWords, toDocumentWord } from './document-words.ts';

/** An item of a project document in canonical form. */
export type CanonicalItem = Record<string, unknown>;

/** Returns an item of a document, or the row of one, in canonical form. Ignores members that the schema lacks. */
export function toCanonicalItem<S extends z.ZodType>(
  schema: S,
  values: { [K in keyof z.output<S>]?: unknown },
): CanonicalItem {
  const { shape } = unwrapSchema(schema).inner as z.ZodObject<Record<string, z.ZodType>>;
  return Object.fromEntries(
    Object.entries(shape).flatMap(([name, type]) => {
      const value = (values as CanonicalItem)[name];
      const { inner, defaultValue } = unwrapSchema(type);
      if (value == null || value === defaultValue) return [];
      if (!Array.isArray(value)) return [[name, toWord(inner, value)]];
      const element = (inner as z.ZodArray<z.ZodType>).element;
      const words = value.map((word) => String(toWord(element, word)));
      return words.length === 0 ? [] : [[name, words.sort(createStringComparator(String))]];
    }),
  );
}

function toWord(schema: z.ZodType, value: unknown): unknown {
  return unwrapSchema(schema).inner instanceof z.ZodEnum ? toDocumentWord(String(value)) : value;
}

/** Parses an item in canonical form. */
export function parseCanonicalItem<S extends z.ZodType>(schema: S, item: unknown): z.output<S> {
  return schema.parse(convertWords(schema, item, { path: [], issues: [] }));
}

/** Returns the value with members in the order of the schema, without empty and default members. */
export function omitEmptyMembers(schema: z.ZodType, value: unknown): unknown {
  const { inner } = unwrapSchema(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => omitEmptyMembers(inner.element as z.ZodType, item));
  }
  if (!(inner instanceof z.ZodObject) || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(inner.shape as Record<string, z.ZodType>).flatMap(([name, type]) => {
      const member = value[name];
      const isEmpty = member === false || (Array.isArray(member) && member.length === 0);
      if (member == null || (isEmpty && unwrapSchema(type).isOptional)) return [];
      return [[name, omitEmptyMembers(type, member)]];
    }),
  );
}

/** Creates a comparator of strings by code units, so that the order does not depend on the locale. */
export function createStringComparator<T>(toText: (item: T) => string) {
  return (a: T, b: T): number => {
    const left = toText(a);
    const right = toText(b);
    return left < right ? -1 : Number(left > right);
  };
}
