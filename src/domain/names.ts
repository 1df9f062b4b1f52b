/** Rules of names and references that several nouns share. */
import { z } from 'zod';
import { looksLikeId } from '../ids.ts';

const notAnId = { error: 'must not look like an id.' };

export const projectIdOrName = z
  .string()
  .min(1)
  .max(128)
  .describe('The id or the name of the project.');

/** Topics and destinations. */
export const eventName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/, 'must be letters, digits and dashes, 1 to 64 characters.')
  .refine((text) => !looksLikeId(text), notAnId);

/** Project names are unique on the platform and stored in lower case. */
export const projectName = z
  .string()
  .min(2)
  .max(128)
  .regex(
    /^[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]$/,
    'must be letters, digits and hyphens, with a letter or digit at both ends.',
  )
  .refine((text) => !looksLikeId(text), notAnId)
  .transform((text) => text.toLowerCase());

export const integrationName = z
  .string()
  .regex(/^[a-z0-9_-]{1,64}$/, 'must be lowercase letters, digits, - and _, 1 to 64 characters.')
  .refine((text) => !looksLikeId(text), notAnId);

/** The builder's own name for a group or a consumer. */
export const ref = z.string().min(1).max(256);

/** Text that people read: a display name, a label. */
export const label = z.string().trim().min(1).max(128);
