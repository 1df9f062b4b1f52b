/** The catalogue of providers, as callers see it. */
import { notFound } from '../../errors.ts';
import type { Provider } from '../../providers/contract.ts';
import type { Call } from '../call.ts';
import { type PageArgs, pageOfArray } from '../page.ts';
import { authorize } from '../viewer/viewer.ts';

export type { Provider } from '../../providers/contract.ts';
export {
  AUTH_SCHEMES,
  PROVIDER_CAPABILITIES,
  supportedCapabilities,
} from '../../providers/contract.ts';

export function findProvider({ viewer, catalogue }: Call, name: string): Provider | null {
  authorize(viewer, 'read');
  return catalogue.find(name);
}

/** Throws NOT_FOUND. */
export function getProvider(call: Call, name: string): Provider {
  const provider = findProvider(call, name);
  if (!provider) throw notFound('Provider', name);
  return provider;
}

/** All of them at once: the catalogue is code, and no larger than that. */
export function getCatalogue({ viewer, catalogue }: Call): readonly Provider[] {
  authorize(viewer, 'read');
  return catalogue.all;
}

/** All providers, by name. */
export function listProviders({ viewer, catalogue }: Call, args: PageArgs) {
  authorize(viewer, 'read');
  const key = (provider: Provider) => provider.name;
  return pageOfArray({ name: 'Query.providers', key }, catalogue.all, args);
}
