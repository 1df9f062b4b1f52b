/** The schema of an input, as answers show its values: without its rules. */
import { z } from 'zod';
import { storedJson } from '../../domain/storable-json.ts';
import { unwrapped } from '../../domain/unwrapped.ts';
import { enumNameOf, words } from '../endpoint/words.ts';

/**
 * The same members with the same descriptions. What an input may leave out, an answer may too; there
 * are no nulls (`withoutNulls`). Rules may become stricter later, and what is stored is still shown.
 * Members that are `always` there, however deep, have a value of their own if the input had none.
 */
export function responseObject(
  schema: z.ZodObject,
  always: Record<string, z.ZodType> = {},
): z.ZodObject {
  const shape = Object.entries<z.ZodType>(schema.shape).map(([name, type]) => {
    const { inner, isOptional, description = '' } = unwrapped(type);
    if (always[name]) return [name, always[name]];
    const shown = responseType(inner, always).describe(description);
    return [name, isOptional ? shown.optional() : shown];
  });
  return z.object(Object.fromEntries(shape));
}

function responseType(schema: z.ZodType, always: Record<string, z.ZodType>): z.ZodType {
  if (schema instanceof z.ZodObject) return responseObject(schema, always);
  if (schema instanceof z.ZodArray)
    return z.array(responseType(schema.element as z.ZodType, always));
  if (schema instanceof z.ZodBoolean) return z.boolean();
  if (schema instanceof z.ZodNumber) return z.number();
  if (schema instanceof z.ZodString) return responseText(schema);
  if (schema instanceof z.ZodEnum) {
    return words(enumNameOf(schema) ?? '', schema.options as string[]);
  }
  throw new Error(`There is no way yet to show ${schema.type}.`);
}

/** One of a few words, or any text. */
function responseText(schema: z.ZodString): z.ZodType {
  const { words: allowed } = schema.meta() ?? {};
  return Array.isArray(allowed) ? z.enum(allowed as string[]) : z.string();
}

/** Members that are null are left out, however deep they are. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      member === null ? [] : [[name, withoutNulls(member)]],
    ),
  );
}

/** A stored object; left out if there is none. */
export function shownJson(stored: unknown): Record<string, unknown> | undefined {
  return storedJson<Record<string, unknown> | null>(stored) ?? undefined;
}
