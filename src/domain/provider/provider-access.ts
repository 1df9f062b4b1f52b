/** The shared state of a process for calls to providers. */
import type { Outbound } from '../../outbound/client.ts';
import type { Refreshes } from '../connection/token/token-refresh.ts';
import type { UnstoredTokens } from '../connection/token/unstored-tokens.ts';
import {
  createObjectDescriptions,
  type ObjectDescriptions,
} from '../installation/object-descriptions.ts';
import { ProviderLimits } from './provider-limits.ts';

export interface ProviderAccess {
  outbound: Outbound;
  limits: ProviderLimits;
  refreshes: Refreshes;
  unstored: UnstoredTokens;
  descriptions: ObjectDescriptions;
}

export function createProviderAccess(outbound: Outbound, unstored: UnstoredTokens): ProviderAccess {
  return {
    outbound,
    limits: new ProviderLimits(),
    refreshes: new Map(),
    unstored,
    descriptions: createObjectDescriptions(),
  };
}
