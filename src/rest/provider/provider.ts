import { z } from 'zod';
import { getCatalogue, getProvider } from '../../domain/provider/provider.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { provider, showProvider } from './provider-view.ts';

const tag = 'Providers';

export const providerEndpoints = [
  readEndpoint({
    id: 'listProviders',
    path: '/providers',
    tag,
    input: z.object({}),
    read: getCatalogue,
    output: z.record(z.string(), provider).describe('The providers, by name.'),
    show: (all, request) =>
      Object.fromEntries(all.map((facts) => [facts.name, showProvider(facts, request)])),
  }),
  readEndpoint({
    id: 'getProvider',
    path: '/providers/{provider}',
    tag,
    input: z.object({
      name: z.string().min(1).max(128).describe('The name of the provider, like `hubspot`.'),
    }),
    places: { name: { in: 'path', name: 'provider' } },
    read: getProvider,
    output: provider,
    show: showProvider,
  }),
];
