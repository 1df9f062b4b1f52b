import { z } from 'zod';
import type { Prisma } from '../database/generated/client.ts';

const BYTES_MAX = 16 * 1024;

/** Arbitrary JSON that a caller attaches to a row. Its size is limited, because every reader of the row receives it. */
export const boundedJsonObject = z.record(z.string(), z.unknown()).refine(isBounded, {
  error: `must be at most ${BYTES_MAX} bytes as JSON.`,
});

/** The type assertion holds because every surface accepts JSON only. */
function isBounded(value: Record<string, unknown>): value is Prisma.InputJsonObject & typeof value {
  return Buffer.byteLength(JSON.stringify(value)) <= BYTES_MAX;
}
