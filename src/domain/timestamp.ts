import { z } from 'zod';

/** Years of four digits in UTC, which the offset may leave: others have no ISO text that all readers take. */
export const timestamp = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .refine((date) => date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9999);
