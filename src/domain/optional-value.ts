import type { z } from 'zod';

/** An input member that may be absent or null. It is parsed to null in both cases. */
export function orNull<S extends z.ZodType>(schema: S) {
  return schema.nullish().transform((value) => value ?? null);
}

/**
 * An input member that may be absent or null. It is parsed to `value` in both cases, which the API does not document.
 */
export function orElse<S extends z.ZodType>(schema: S, value: NonNullable<z.output<S>>) {
  return schema.nullish().transform((input) => input ?? value);
}

/**
 * An input member that may be absent or null. It is parsed to `value` in both cases, and the API documents that
 * default.
 */
export function orDefault<S extends z.ZodType>(schema: S, value: NonNullable<z.output<S>>) {
  const defaultValue = value as z.core.util.NoUndefined<z.output<S>>;
  return schema
    .nullable()
    .default(defaultValue)
    .transform((input) => input ?? value);
}
