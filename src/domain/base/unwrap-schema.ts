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

export function unwrapSchema(schema: z.ZodType): Unwrapped {
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
