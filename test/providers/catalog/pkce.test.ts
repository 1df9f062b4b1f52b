/** Tests that consent in a browser uses PKCE (S256) if the provider supports it and the caller requests no other scheme. */
import { expect, test } from 'vitest';
import { CATALOG } from '../../../src/providers/catalog/all-entries.ts';
import { isConsentScheme } from '../../../src/providers/contract.ts';
import { createHubspotProvider } from '../../../src/providers/hubspot/hubspot-provider.ts';
import { createSalesforceProvider } from '../../../src/providers/salesforce/salesforce-provider.ts';
import { createSandboxProvider } from '../../../src/providers/sandbox/sandbox-provider.ts';
import { getSharedApp } from '../../support/app.ts';
import { createProviderApp, START_CONNECT } from '../../support/providers/oauth.ts';
import { createOAuthBrowser } from '../../support/providers/oauth-browser.ts';

const PKCE_SCHEME = 'OAUTH2_AUTHORIZATION_CODE_PKCE';
/** Values of inputs and workspaces that must be hosts of the provider. */
const TOKEN_HOSTS: Record<string, string> = { zoho_token_domain: 'accounts.zoho.eu' };
const WORKSPACES: Record<string, string> = {
  gong: 'https://api.gong.io',
  zoho: 'https://www.zohoapis.eu',
};
const app = await getSharedApp();
const providers = [
  createSandboxProvider(() => app.app.sandbox.url),
  createHubspotProvider(),
  createSalesforceProvider(),
  ...CATALOG,
]
  .filter(({ authSchemes }) => authSchemes.some(isConsentScheme))
  // PKCE is part of the sign-in that follows an administrator's consent.
  .filter(({ oauth2 }) => !oauth2?.adminConsent);
const tenant = await app.createTenant();

async function requestConsentParams(
  { name, hosts, hasCustomerHost, inputs = [] }: (typeof providers)[number],
  changes: object = {},
): Promise<URLSearchParams> {
  const workspaceHost = { metadata: { providerParams: { workspaceHost: 'acme' } } };
  await createProviderApp(tenant, { provider: name, ...(hasCustomerHost && workspaceHost) });
  const input = {
    projectIdOrName: tenant.projectId,
    provider: name,
    ...{ groupRef: 'acme', consumerRef: 'ann', scopes: ['read'] },
    providerWorkspaceRef: WORKSPACES[name] ?? 'acme',
    providerMetadata: Object.fromEntries(
      inputs.map((input) => [
        input.name,
        TOKEN_HOSTS[input.name] ?? hosts?.[input.name]?.[0] ?? 'acme',
      ]),
    ),
    ...changes,
  };
  const { startOAuthConnect } = await tenant.query(START_CONNECT, { input });
  return (await createOAuthBrowser(app).open(startOAuthConnect.authorizeUrl)).searchParams;
}

test.each(
  providers.map((provider) => ({ name: provider.name, provider })),
)('uses PKCE for $name if it supports PKCE', async ({ provider }) => {
  const params = await requestConsentParams(provider);
  const isSupported = provider.authSchemes.includes(PKCE_SCHEME);
  expect(params.get('code_challenge_method')).toBe(isSupported ? 'S256' : null);
  expect(params.get('code_challenge') ?? '').toMatch(isSupported ? /^[\w-]{43}$/ : /^$/);
});

test('connects without PKCE if the caller requests it and the provider supports both', async () => {
  const oauthProviders = providers.filter(
    ({ authSchemes }) => authSchemes.filter(isConsentScheme).length > 1,
  );
  expect(oauthProviders.map(({ name }) => name).toSorted()).toEqual([
    'dynamicsCRM',
    'github',
    'google',
    'microsoft',
    'sandbox',
    'zendeskSupport',
    'zoom',
  ]);
  for (const provider of oauthProviders) {
    const params = await requestConsentParams(provider, {
      authScheme: 'OAUTH2_AUTHORIZATION_CODE',
    });
    expect([provider.name, params.has('code_challenge')]).toEqual([provider.name, false]);
  }
});
