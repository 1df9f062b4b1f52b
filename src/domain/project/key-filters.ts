/** How API keys and JWT keys are filtered. */
import { z } from 'zod';

export const keyFilters = z.object({
  active: z
    .boolean()
    .optional()
    .describe('True: only active keys. False: only inactive ones. Default: all.'),
});
