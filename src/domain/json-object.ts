import { z } from 'zod';
import type { Prisma } from '../database/generated/client.ts';

const BYTES_MAX = 16 * 1024;

/** A JSON object that a caller attaches to a row. Its size is limited, because every read of the row returns it. */
export const boundedJsonObject = z.record(z.string(), z.unknown()).refine(isBounded, {
  error: `must be at most ${BYTES_MAX} bytes as JSON.`,
});

/** The type predicate holds because every surface parses its input as JSON. */
function isBounded(value: Record<string, unknown>): value is Prisma.InputJsonObject & typeof value {
  return Buffer.byteLength(JSON.stringify(value)) <= BYTES_MAX;
}
