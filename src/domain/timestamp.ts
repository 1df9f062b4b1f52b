import { z } from 'zod';

/** Only years of four digits in UTC, after the offset: other years have no ISO text that all readers accept. */
export const timestamp = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .refine((date) => date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9999);
