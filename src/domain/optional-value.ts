import type { z } from 'zod';

/** Accepts an absent or null member, and parses both to null. */
export function orNull<S extends z.ZodType>(schema: S) {
  return schema.nullish().transform((value) => value ?? null);
}

/** Accepts an absent or null member, and parses both to `value`. The API does not document the default. */
export function orElse<S extends z.ZodType>(schema: S, value: NonNullable<z.output<S>>) {
  return schema.nullish().transform((input) => input ?? value);
}

/** Accepts an absent or null member, and parses both to `value`. The API documents the default. */
export function orDefault<S extends z.ZodType>(schema: S, value: NonNullable<z.output<S>>) {
  const defaultValue = value as z.core.util.NoUndefined<z.output<S>>;
  return schema
    .nullable()
    .default(defaultValue)
    .transform((input) => input ?? value);
}
