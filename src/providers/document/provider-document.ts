/** The schema of a provider document: the catalog's part of a provider, and the declaration of its API. */
import { z } from 'zod';
import { AUTH_SCHEMES } from '../contract.ts';
import { providerDeclaration } from '../declarative/declaration/declaration.ts';

export const providerDocument = z.looseObject({
  name: z
    .string()
    .max(64)
    .regex(
      /^x-[a-z0-9]+(-[a-z0-9]+)*$/,
      'must be `x-` and lower-case words with dashes, like x-acme',
    ),
  displayName: z.string().min(1).max(200),
  baseUrl: z.string().min(1).max(2_048),
  authSchemes: z.array(z.enum(AUTH_SCHEMES)).min(1),
  api: providerDeclaration.optional(),
});
export type ProviderDocument = z.output<typeof providerDocument>;
