import type { Provider, ProviderLimits } from '../contract.ts';

/** What tells one provider of the catalogue from another. */
export interface CatalogueRow
  extends Pick<
    Provider,
    | 'name'
    | 'displayName'
    | 'baseUrl'
    | 'authSchemes'
    | 'oauth2'
    | 'apiKey'
    | 'custom'
    | 'workspaceRequired'
  > {
  /** False where requests can't be forwarded as they are. */
  proxy?: false;
}

/** A middle for all of them, not any one's own: what is too much comes back as a 429, and waits. */
export const DEFAULT_LIMITS: ProviderLimits = {
  // As many as keep ten requests a second going when each takes half of one.
  concurrency: 5,
  // Notion asks for 3 and Stripe takes 100.
  requestsPerSecond: 10,
  // Reports and searches take seconds; past half a minute gateways give up.
  timeoutMs: 30_000,
  // Above any page of records; files are not for forwarding.
  answerBytes: 10 * 1024 * 1024,
  // Not reached without code that writes batches and reads pages.
  batchSize: 100,
  pageSize: 100,
};

/** A provider that we can connect to and forward requests to, and of whose objects we know nothing. */
export function catalogueProvider({ proxy, ...facts }: CatalogueRow): Provider {
  return {
    ...facts,
    limits: DEFAULT_LIMITS,
    takes: { associations: false, headers: false, idempotencyKey: false },
    capabilities: proxy === false ? {} : { proxy: true },
  };
}
