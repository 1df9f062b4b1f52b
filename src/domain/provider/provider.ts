/** The catalogue of providers, as callers see it. */

import { notFound } from '../../errors.ts';
import type { Provider } from '../../providers/contract.ts';
import type { Call } from '../call.ts';
import { read } from '../declared-read.ts';
import type { PageArgs } from '../paging/page.ts';
import { pageOfArray } from '../paging/page-of-array.ts';
import { permittedProviders } from '../scope.ts';
import { orEndUser } from '../viewer/needs.ts';

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

/** The provider of that name if the caller was given it; null for all others. */
export async function findGiven(call: Call, name: string): Promise<Provider | null> {
  const given = await permittedProviders(call);
  return given && !given.has(name) ? null : call.catalogue.find(name);
}

async function allGiven(call: Call): Promise<readonly Provider[]> {
  const given = await permittedProviders(call);
  const { all } = call.catalogue;
  return given ? all.filter(({ name }) => given.has(name)) : all;
}

export const findProvider = read(orEndUser('read'), findGiven);

/** Throws NOT_FOUND. */
export const getProvider = read(
  orEndUser('read'),
  async (call: Call, { name }: { name: string }): Promise<Provider> => {
    const provider = await findGiven(call, name);
    if (!provider) throw notFound('Provider', name);
    return provider;
  },
);

/** All of them at once: the catalogue is small, and in memory. */
export const getCatalogue = read(orEndUser('read'), allGiven);

/** All providers, by name. */
export const listProviders = read(orEndUser('read'), async (call: Call, args: PageArgs) => {
  const key = (provider: Provider) => provider.name;
  return pageOfArray({ name: 'Query.providers', key }, await allGiven(call), args);
});
