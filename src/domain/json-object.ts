import { z } from 'zod';

const MOST_BYTES = 16 * 1024;

/** Free JSON that a caller attaches to a row: bounded, because every reader of the row gets it. */
export const jsonObject = z
  .record(z.string(), z.unknown())
  .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= MOST_BYTES, {
    error: `must be at most ${MOST_BYTES} bytes as JSON.`,
  });
