/** The catalogue of providers, as callers see it. */
import type { Provider } from '../../providers/provider.ts';
import type { Call } from '../call.ts';
import { type PageArgs, pageOfArray } from '../page.ts';
import { authorize } from '../viewer/viewer.ts';

export type { Provider } from '../../providers/provider.ts';
export { supportedCapabilities } from '../../providers/provider.ts';

export function findProvider({ viewer, catalogue }: Call, name: string): Provider | null {
  authorize(viewer, 'read');
  return catalogue.find(name);
}

/** All providers, by name. */
export function listProviders({ viewer, catalogue }: Call, args: PageArgs) {
  authorize(viewer, 'read');
  const key = (provider: Provider) => provider.name;
  return pageOfArray({ name: 'Query.providers', key }, catalogue.all, args);
}
