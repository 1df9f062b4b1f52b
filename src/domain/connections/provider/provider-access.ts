/** The shared state of a process for calls to providers. */
import type { Outbound } from '../../../outbound/client.ts';
import type { UnsealedCredentials } from '../connection/credentials.ts';
import type { UnstoredTokens } from '../connection/token/unstored-tokens.ts';
import type { RequestObserver } from '../diagnosis/observed-outbound.ts';
import { createDescriptionCache, type DescriptionCache } from './description-cache.ts';
import { ProviderLimits } from './provider-limits.ts';

export interface ProviderAccess {
  outbound: Outbound;
  /** Records requests for diagnosis. Null if REQUEST_RETENTION_HOURS is 0. */
  observer: RequestObserver | null;
  limits: ProviderLimits;
  /** The running refreshes of this process, by connection id. */
  refreshes: Map<string, Promise<UnsealedCredentials>>;
  unstoredTokens: UnstoredTokens;
  objectDescriptions: DescriptionCache;
}

export function createProviderAccess({
  outbound,
  observer,
  unstoredTokens,
}: Pick<ProviderAccess, 'outbound' | 'observer' | 'unstoredTokens'>): ProviderAccess {
  return {
    outbound,
    observer,
    limits: new ProviderLimits(),
    refreshes: new Map(),
    unstoredTokens,
    objectDescriptions: createDescriptionCache(),
  };
}
