import { z } from 'zod';
import {
  AUTH_SCHEMES,
  getCatalogue,
  getProvider,
  PROVIDER_CAPABILITIES,
  type Provider,
  supportedCapabilities,
} from '../../domain/provider/provider.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { wordOf, words } from '../endpoint/words.ts';
import { resource } from '../openapi/schemas.ts';

const tag = 'Providers';

export const authScheme = words('AuthScheme', AUTH_SCHEMES);

const provider = resource('Provider', 'A third-party service of the catalogue.', {
  name: z.string().describe('The name that connections and integrations use.'),
  displayName: z.string().describe('The name that people know.'),
  authSchemes: z.array(authScheme).describe('How one can connect to it, the preferred way first.'),
  baseUrl: z
    .string()
    .describe('Where its API is; {{workspace}} stands for what a connection fills in.'),
  supports: z
    .array(words('ProviderCapability', PROVIDER_CAPABILITIES))
    .describe('What this gateway can do with it.'),
});

function showProvider(facts: Provider) {
  const { name, displayName, authSchemes, baseUrl } = facts;
  return {
    name,
    displayName,
    authSchemes: authSchemes.map((scheme) => wordOf('AuthScheme', scheme)),
    baseUrl,
    supports: supportedCapabilities(facts).map((one) => wordOf('ProviderCapability', one)),
  };
}

export const providerEndpoints = [
  readEndpoint({
    id: 'listProviders',
    path: '/providers',
    tag,
    summary: 'Gives the whole catalogue, by name.',
    input: z.object({}),
    read: getCatalogue,
    output: z.record(z.string(), provider).describe('The providers, by name.'),
    show: (all) => Object.fromEntries(all.map((facts) => [facts.name, showProvider(facts)])),
  }),
  readEndpoint({
    id: 'getProvider',
    path: '/providers/{provider}',
    tag,
    summary: 'Gives a provider by name.',
    input: z.object({ name: z.string().min(1).max(128).describe('Its name.') }),
    places: { name: { in: 'path', name: 'provider' } },
    read: getProvider,
    output: provider,
    show: showProvider,
  }),
];
