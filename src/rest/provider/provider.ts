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

const provider = resource('Provider', 'The provider: a third-party service of the catalogue.', {
  name: z.string().describe('The name in inputs, like `hubspot`: unique in the catalogue.'),
  displayName: z.string().describe('The name that people see.'),
  authSchemes: z.array(authScheme).describe('The schemes to connect with, in order of preference.'),
  baseUrl: z
    .string()
    .describe('The base URL of its API. A connection fills in variables like {{workspace}}.'),
  supports: z
    .array(words('ProviderCapability', PROVIDER_CAPABILITIES))
    .describe('What the gateway can do with its records.'),
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
    summary: 'Gets the whole catalogue of providers, by name.',
    input: z.object({}),
    read: getCatalogue,
    output: z.record(z.string(), provider).describe('The providers, by name.'),
    show: (all) => Object.fromEntries(all.map((facts) => [facts.name, showProvider(facts)])),
  }),
  readEndpoint({
    id: 'getProvider',
    path: '/providers/{provider}',
    tag,
    summary: 'Gets a provider by name.',
    input: z.object({
      name: z.string().min(1).max(128).describe('The name of the provider, like `hubspot`.'),
    }),
    places: { name: { in: 'path', name: 'provider' } },
    read: getProvider,
    output: provider,
    show: showProvider,
  }),
];
