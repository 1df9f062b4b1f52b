import { z } from 'zod';

/**
 * Accepts years from 0001 to 9999 in UTC, after the offset is applied. The ISO format of other years is not accepted
 * everywhere.
 */
export const timestamp = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .refine((date) => date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9999);
