import { z } from 'zod';
import type { Prisma } from '../database/generated/client.ts';

const BYTES_MAX = 16 * 1024;

/** Free JSON that a caller attaches to a row. It is bounded, because every reader of the row gets it. */
export const jsonObject = z.record(z.string(), z.unknown()).refine(isBounded, {
  error: `must be at most ${BYTES_MAX} bytes as JSON.`,
});

/** Every surface takes JSON alone. */
function isBounded(value: Record<string, unknown>): value is Prisma.InputJsonObject & typeof value {
  return Buffer.byteLength(JSON.stringify(value)) <= BYTES_MAX;
}
