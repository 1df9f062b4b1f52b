/** Members of inputs that may be left out or null: once parsed, each has a value, so no default is given twice. */
import type { z } from 'zod';

/** Null if it is not given. */
export function orNull<S extends z.ZodType>(schema: S) {
  return schema.nullish().transform((value) => value ?? null);
}

/** This value if it is not given. */
export function orElse<S extends z.ZodType>(schema: S, value: NonNullable<z.output<S>>) {
  return schema.nullish().transform((given) => given ?? value);
}

/** The same, told to callers as the default. */
export function orDefault<S extends z.ZodType>(schema: S, value: NonNullable<z.output<S>>) {
  const told = value as z.core.util.NoUndefined<z.output<S>>;
  return schema
    .nullable()
    .default(told)
    .transform((given) => given ?? value);
}
