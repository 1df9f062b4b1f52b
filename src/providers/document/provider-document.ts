/**
 * The schema of a provider document: the catalog's part of a provider, and the declaration of its API. A document is pure
 * data, and its author may be a stranger, so every member is bounded.
 */
import { z } from 'zod';
import { DEFAULT_LIMITS } from '../catalog/catalog-entry.ts';
import { catalogEntry, moduleEntry } from '../catalog/entry-schema.ts';
import { providerDeclaration } from '../declarative/declaration/declaration.ts';
import { listRuleViolations } from './document-rules.ts';

/** The maximum length of a document in characters, as text and as JSON with its aliases resolved. */
export const PROVIDER_DOCUMENT_LENGTH_MAX = 256 * 1024;

export const limits = z
  .strictObject({
    concurrency: z
      .int()
      .min(1)
      .max(20)
      .describe('The maximum number of concurrent requests of one connection.'),
    requestsPerSecond: z.number().min(0.01).max(100),
    timeoutMs: z.int().min(1_000).max(60_000),
    responseBytesMax: z
      .int()
      .min(1_000)
      .max(DEFAULT_LIMITS.responseBytesMax)
      .describe('The largest response body that is read, in bytes.'),
    batchSize: z
      .int()
      .min(1)
      .max(1_000)
      .describe('The maximum number of records in a batch write.'),
    pageSize: z
      .int()
      .min(1)
      .max(1_000)
      .describe('The maximum number of records in a page of a read.'),
  })
  .partial()
  .describe("Limits of the gateway's requests to the API.");

const documentModule = moduleEntry.extend({
  limits: limits.optional(),
  api: providerDeclaration
    .optional()
    .describe('The API of the module. Default: that of the provider.'),
});

export const providerDocument = z
  .strictObject({
    name: z
      .string()
      .max(64)
      .regex(
        /^x-[a-z0-9]+(-[a-z0-9]+)*$/,
        'must be `x-` and lower-case words with dashes, like x-acme',
      )
      .describe(
        'The name in integrations. The prefix `x-` keeps it apart from the names of built-in providers.',
      ),
    ...catalogEntry.shape,
    modules: z.array(documentModule).min(1).max(20).optional(),
    limits: limits.optional(),
    api: providerDeclaration
      .optional()
      .describe(
        'How the gateway reads, writes and watches records. Without it, the gateway connects and forwards requests.',
      ),
  })
  .superRefine((document, context) => {
    for (const { path, message } of listRuleViolations(document)) {
      context.addIssue({ code: 'custom', path, message });
    }
  });
export type ProviderDocument = z.output<typeof providerDocument>;
