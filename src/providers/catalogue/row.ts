import type { Provider, ProviderLimits } from '../contract.ts';

/** What tells one provider of the catalogue from another. */
export interface CatalogueRow
  extends Pick<
    Provider,
    | 'name'
    | 'displayName'
    | 'baseUrl'
    | 'modules'
    | 'hosts'
    | 'linkHosts'
    | 'authSchemes'
    | 'oauth2'
    | 'apiKey'
    | 'custom'
    | 'healthCheck'
    | 'workspaceRequired'
  > {
  /** False if requests can't be forwarded as they are. */
  proxy?: false;
}

/** Middle values, not one provider's own limits: if they are too high, a 429 comes and the call waits. */
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

/** A provider that connections and forwarded requests work with, and whose objects are not known. */
export function catalogueProvider({ proxy, ...facts }: CatalogueRow): Provider {
  return {
    ...facts,
    limits: DEFAULT_LIMITS,
    takes: { associations: false, headers: false, idempotencyKeyMs: null, allOrNone: [] },
    capabilities: proxy === false ? {} : { proxy: true },
  };
}
