import { z } from 'zod';
import { getCatalog, getProvider } from '../../domain/provider/provider.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { provider } from './provider-view.ts';

const tag = 'Providers';

export const providerEndpoints = [
  readEndpoint({
    id: 'listProviders',
    path: '/providers',
    tag,
    input: z.object({}),
    read: getCatalog,
    resource: z.record(z.string(), provider).describe('The providers, by name.'),
    show: (providers) => Object.fromEntries(providers.map((row) => [row.name, row])),
  }),
  readEndpoint({
    id: 'getProvider',
    path: '/providers/{provider}',
    tag,
    input: z.object({
      name: z.string().min(1).max(128).describe('The name of the provider, like `hubspot`.'),
    }),
    locations: { name: { in: 'path', name: 'provider' } },
    read: getProvider,
    resource: provider,
  }),
];
