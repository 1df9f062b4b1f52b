/** The catalogue of providers, as callers see it. */

import { notFound } from '../../errors.ts';
import type { Provider } from '../../providers/contract.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import type { PageArgs } from '../paging/page.ts';
import { pageOfArray } from '../paging/page-of-array.ts';

export type {
  AuthScheme,
  CustomInput,
  ObjectSummary,
  Provider,
  ProviderModule,
} from '../../providers/contract.ts';
export {
  AUTH_SCHEMES,
  PROVIDER_CAPABILITIES,
  supportedCapabilities,
} from '../../providers/contract.ts';
export { modulesOf, providerAt } from '../../providers/modules.ts';

export const findProvider = read('read', ({ catalogue }: Call, name: string): Provider | null =>
  catalogue.find(name),
);

/** Throws NOT_FOUND. */
export const getProvider = read(
  'read',
  ({ catalogue }: Call, { name }: { name: string }): Provider => {
    const provider = catalogue.find(name);
    if (!provider) throw notFound('Provider', name);
    return provider;
  },
);

/** All of them at once: the catalogue is small, and in memory. */
export const getCatalogue = read(
  'read',
  ({ catalogue }: Call): readonly Provider[] => catalogue.all,
);

/** All providers, by name. */
export const listProviders = read('read', ({ catalogue }: Call, args: PageArgs) => {
  const key = (provider: Provider) => provider.name;
  return pageOfArray({ name: 'Query.providers', key }, catalogue.all, args);
});
