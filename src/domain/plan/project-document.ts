/**
 * A project as a document: everything that a builder configures, without ids and secrets. It uses the vocabulary of
 * manifests. A manifest is a document that has only integrations. Each resource declares how it appears in a document.
 */
import { z } from 'zod';
import { allowedOrigins } from '../access/origins.ts';
import type { CanonicalItem } from '../base/canonical.ts';
import { checkRules } from '../base/issues.ts';
import { listRepeatIssues } from '../base/repeats.ts';
import { destinationItem } from '../events/document/destination-document.ts';
import { topicItem } from '../events/document/topic-document.ts';
import { CUSTOM_PROVIDERS_MAX } from '../integrations/custom-provider/custom-provider.ts';
import { customProviderItem } from '../integrations/custom-provider/custom-provider-document.ts';
import {
  integrationContentInput,
  specVersion,
} from '../integrations/integration/integration-content-input.ts';
import { appearanceItem } from '../tenants/project/appearance-document.ts';
import { jwtKeyItem } from '../tenants/project/jwt-key-document.ts';

/** The maximum numbers of items. They bound the transaction that applies a document. */
const LIMITS = { integrations: 500, destinations: 200, topics: 200, keys: 50, apps: 500 } as const;
const TEXT_LENGTH_MAX = 1_024;

const providerApp = z.object({
  provider: z.string().min(1).max(TEXT_LENGTH_MAX).describe('The name of the provider.'),
  name: z
    .string()
    .min(1)
    .max(TEXT_LENGTH_MAX)
    .describe('The external reference of the app. Without one, its client id.'),
});

export const projectDocument = z
  .object({
    specVersion,
    appearance: appearanceItem
      .optional()
      .describe('The name of the app, and the appearance of the connect page.'),
    allowedOrigins: allowedOrigins.optional(),
    jwtKeys: z
      .array(jwtKeyItem)
      .max(LIMITS.keys)
      .optional()
      .describe("The public keys that verify end users' tokens, at most 50."),
    customProviders: z
      .array(customProviderItem)
      .max(CUSTOM_PROVIDERS_MAX)
      .optional()
      .describe('The custom providers, each with its document as text, at most 50.'),
    providerApps: z
      .array(providerApp)
      .max(LIMITS.apps)
      .optional()
      .describe(
        'The provider apps that the project must have. A plan reports missing apps, but creates none, because apps have secrets.',
      ),
    destinations: z
      .array(destinationItem)
      .max(LIMITS.destinations)
      .optional()
      .describe('The destinations, at most 200.'),
    topics: z
      .array(topicItem)
      .max(LIMITS.topics)
      .optional()
      .describe('The topics with their routes, at most 200.'),
    integrations: z
      .array(integrationContentInput)
      .max(LIMITS.integrations)
      .optional()
      .describe('The integrations, as in a manifest, at most 500.'),
  })
  .superRefine(
    checkRules(function* ({ jwtKeys = [], customProviders = [], ...sections }) {
      yield* listRepeatIssues(
        jwtKeys.map(({ publicKeyPem }) => publicKeyPem.trim()),
        ['jwtKeys'],
        'publicKeyPem',
      );
      const { destinations = [], topics = [], integrations = [] } = sections;
      const namedItems = { customProviders, destinations, topics, integrations };
      for (const [section, items] of Object.entries(namedItems)) {
        const names = items.map(({ name }) =>
          section === 'integrations' ? name.toLowerCase() : name,
        );
        yield* listRepeatIssues(names, [section], 'name');
      }
    }),
  )
  .describe(
    'A project: its appearance, origins, keys, custom providers, destinations, topics and integrations. A section that is omitted is not managed by the document.',
  );

export type ParsedDocument = z.output<typeof projectDocument>;

/** A document in canonical form. A section that is absent is not managed by the document. */
export interface CanonicalDocument {
  specVersion: string;
  appearance?: CanonicalItem;
  allowedOrigins?: string[];
  jwtKeys?: CanonicalItem[];
  customProviders?: CanonicalItem[];
  providerApps?: { provider: string; name: string }[];
  destinations?: CanonicalItem[];
  topics?: CanonicalItem[];
  /** Contents of integrations, in the words of manifests. */
  integrations?: CanonicalItem[];
}
