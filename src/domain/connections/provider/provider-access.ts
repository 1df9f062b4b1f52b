/** The shared state of a process for calls to providers. */
import type { Outbound } from '../../../outbound/client.ts';
import type { Refreshes } from '../connection/token/token-refresh.ts';
import type { UnstoredTokens } from '../connection/token/unstored-tokens.ts';
import type { RequestObserver } from '../diagnosis/observed-outbound.ts';
import { createObjectDescriptions, type ObjectDescriptions } from './object-descriptions.ts';
import { ProviderLimits } from './provider-limits.ts';

export interface ProviderAccess {
  outbound: Outbound;
  /** Records requests for diagnosis. Null if REQUEST_RETENTION_HOURS is 0. */
  observer: RequestObserver | null;
  limits: ProviderLimits;
  refreshes: Refreshes;
  unstoredTokens: UnstoredTokens;
  objectDescriptions: ObjectDescriptions;
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
    objectDescriptions: createObjectDescriptions(),
  };
}
