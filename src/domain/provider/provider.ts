/** The catalogue of providers as callers see it. A caller may be restricted to some of the providers. */

import { notFound } from '../../errors.ts';
import {
  type ObjectSummary,
  objectCapabilities,
  type Provider,
  type ProviderCapability,
} from '../../providers/contract.ts';
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

/** An object of a provider, with the capabilities that the gateway has for its records. */
export interface ObjectOfProvider extends ObjectSummary {
  supports: readonly ProviderCapability[];
}

export function withSupport(
  provider: Provider,
  { name, displayName }: ObjectSummary,
): ObjectOfProvider {
  return { name, displayName, supports: objectCapabilities(provider, name) };
}

/** The objects that every account of the provider has. */
export function objectsOf(provider: Provider): ObjectOfProvider[] {
  const { commonObjects, objects = [] } = provider;
  const summaries = commonObjects ?? objects.map((name) => ({ name, displayName: name }));
  return summaries.map((summary) => withSupport(provider, summary));
}

/** The provider with this name, if the caller may use it. Otherwise null. */
export async function findPermittedProvider(call: Call, name: string): Promise<Provider | null> {
  const permitted = await permittedProviders(call);
  return permitted && !permitted.has(name) ? null : call.catalogue.find(name);
}

async function listPermittedProviders(call: Call): Promise<readonly Provider[]> {
  const permitted = await permittedProviders(call);
  const { all } = call.catalogue;
  return permitted ? all.filter(({ name }) => permitted.has(name)) : all;
}

export const findProvider = read(orEndUser('read'), findPermittedProvider);

/** Throws NOT_FOUND. */
export const getProvider = read(
  orEndUser('read'),
  'Gets how to connect to a provider, and what can be done with its records.',
  async (call: Call, { name }: { name: string }): Promise<Provider> => {
    const provider = await findPermittedProvider(call, name);
    if (!provider) throw notFound('Provider', name);
    return provider;
  },
);

/** All providers without pages, because the catalogue is small and in memory. */
export const getCatalogue = read(
  orEndUser('read'),
  'Gets the whole catalogue of providers, by name.',
  listPermittedProviders,
);

/** All providers, by name. */
export const listProviders = read(
  orEndUser('read'),
  'The catalogue of providers, in the order of their names.',
  async (call: Call, args: PageArgs) => {
    const key = (provider: Provider) => provider.name;
    return pageOfArray({ name: 'Query.providers', key }, await listPermittedProviders(call), args);
  },
);
