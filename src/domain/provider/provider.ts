/** The catalogue of providers, as callers see it. */

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

/** An object of a provider, with what the gateway can do with its records. */
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
