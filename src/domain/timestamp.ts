import { z } from 'zod';

/**
 * Accepts ISO 8601 times whose year in UTC is 0001 to 9999. Some clients and databases do not accept the ISO format of
 * other years.
 */
export const timestamp = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .refine((date) => date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9999);
