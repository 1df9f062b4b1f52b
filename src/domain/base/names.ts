/** Schemas of names and of references to projects. */
import { z } from 'zod';
import { hasIdForm } from '../../kernel/ids.ts';

const ID_FORM_RULE = { error: 'must not have the form of an id.' };

/** For the path of an endpoint. */
export const requiredProjectIdOrName = z
  .string()
  .min(1)
  .max(128)
  .describe('The id or the name of the project.');

/** For an input. If it is absent, `getProjectOfInput` determines the project. */
export const projectIdOrName = requiredProjectIdOrName
  .nullish()
  .describe(
    'The id or the name of the project. Default: the only project of the caller, or the project of an object that the input names by id.',
  );

export const destinationName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/, 'must be letters, digits and dashes, 1 to 64 characters.')
  .refine((text) => !hasIdForm(text), ID_FORM_RULE);

export const topicName = z
  .string()
  .regex(
    /^(?=.{1,64}$)[A-Za-z0-9-]+(?: +[A-Za-z0-9-]+)*$/,
    'must be letters, digits, dashes and inner spaces, 1 to 64 characters.',
  )
  .refine((text) => !hasIdForm(text), ID_FORM_RULE);

/** Project names are unique in the whole service and stored in lower case. */
export const projectName = z
  .string()
  .min(2)
  .max(128)
  .regex(
    /^[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]$/,
    'must be letters, digits and hyphens, with a letter or digit at both ends.',
  )
  .refine((text) => !hasIdForm(text), ID_FORM_RULE)
  .transform((text) => text.toLowerCase());

/**
 * Not converted to lower case, because client code uses the names as its manifest spells them. A unique index on
 * `lower("name")` refuses names that differ only by case (docs/decisions/052-integration-names.md).
 */
export const integrationName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be letters, digits, - and _, 1 to 64 characters.')
  .refine((text) => !hasIdForm(text), ID_FORM_RULE);

/** A name with at most 256 characters, such as an object's or a field's name at a provider. */
export const boundedName = z.string().min(1).max(256);

/** The builder's own name for a group or a consumer. */
export const ref = boundedName;

/** A human-readable string, like a display name. */
export const label = z.string().trim().min(1).max(128);
