/** Schemas of values that inputs of several resources share. */
import { z } from 'zod';
import type { Prisma } from '../../database/generated/client.ts';

const JSON_BYTES_MAX = 16 * 1024;

/**
 * Accepts ISO 8601 times whose year in UTC is 0001 to 9999. Some clients and databases do not accept the ISO format of
 * other years.
 */
export const timestamp = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .refine((date) => date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9999);

/** A JSON object that a caller attaches to a row. Its size is limited, because every read of the row returns it. */
export const boundedJsonObject = z.record(z.string(), z.unknown()).refine(isBounded, {
  error: `must be at most ${JSON_BYTES_MAX} bytes as JSON.`,
});

/** The type predicate holds because every surface parses its input as JSON. */
function isBounded(value: Record<string, unknown>): value is Prisma.InputJsonObject & typeof value {
  return Buffer.byteLength(JSON.stringify(value)) <= JSON_BYTES_MAX;
}

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
