/** What a schema is about, without what only says whether its value must be given and what is done with it then. */
import { z } from 'zod';

export interface Unwrapped {
  inner: z.ZodType;
  /** Whether it may be left out or null. */
  isOptional: boolean;
  defaultValue: unknown;
  /** The outermost. */
  description: string | undefined;
}

export function unwrapped(schema: z.ZodType): Unwrapped {
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
