/** Removes the optional, nullable, default and transform wrappers of a zod schema. */
import { z } from 'zod';

interface Unwrapped {
  inner: z.ZodType;
  /** True if the value may be absent or null. */
  isOptional: boolean;
  defaultValue: unknown;
  /** The description of the outermost schema that has one. */
  description: string | undefined;
}

const unwrappedSchemas = new WeakMap<z.ZodType, Unwrapped>();

/** Remembers the result, because requests unwrap the schemas of all their values. */
export function unwrapSchema(schema: z.ZodType): Unwrapped {
  const known = unwrappedSchemas.get(schema);
  if (known) return known;
  const unwrapped = findInner(schema);
  unwrappedSchemas.set(schema, unwrapped);
  return unwrapped;
}

function findInner(schema: z.ZodType): Unwrapped {
  let inner = schema;
  let isOptional = false;
  let defaultValue: unknown;
  let description: string | undefined;
  for (;;) {
    description ??= inner.description;
    if (inner instanceof z.ZodPipe) {
      inner = inner.in as z.ZodType;
      continue;
    }
    if (inner instanceof z.ZodDefault) defaultValue = inner.def.defaultValue;
    else if (!(inner instanceof z.ZodOptional || inner instanceof z.ZodNullable)) break;
    isOptional = true;
    inner = inner.unwrap() as z.ZodType;
  }
  return { inner, isOptional, defaultValue, description };
}

/** Returns the maximum number of items of a list. Undefined if its schema has none. */
export function findItemsMax({ def }: z.ZodArray): number | undefined {
  for (const check of def.checks ?? []) {
    if (check instanceof z.core.$ZodCheckMaxLength) return check._zod.def.maximum;
  }
  return undefined;
}
