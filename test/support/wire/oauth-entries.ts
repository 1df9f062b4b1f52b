/** Connects to providers of the catalog whose URLs lead to a test server, and consents there. */
import type { Provider } from '../../../src/providers/contract.ts';
import type { Tenant, TestApp } from '../app.ts';
import { START_CONNECT } from '../providers/oauth.ts';
import { createOAuthBrowser } from '../providers/oauth-browser.ts';

/** Returns the provider with all of its URLs on the server, below a path with the provider's name. */
export function redirectEntry(provider: Provider, serverUrl: string): Provider {
  const { name, baseUrl, oauth2, healthCheck, limits } = provider;
  const redirect = (template: string) => {
    const address = template
      .replace(/^\{\{\w+\}\}/, 'https://acme')
      .replaceAll(/\{\{\w+\}\}/g, 'a');
    return `${serverUrl}/${name}${new URL(address).pathname.replace(/\/$/, '')}`;
  };
  const check = typeof healthCheck === 'string' ? { path: healthCheck } : healthCheck;
  return {
    ...provider,
    baseUrl: redirect(baseUrl),
    modules: [],
    hosts: {},
    limits: { ...limits, requestsPerSecond: 1_000 },
    ...(check?.path.startsWith('https:') && {
      healthCheck: { method: 'GET', ...check, path: redirect(check.path) },
    }),
    ...(oauth2 && {
      oauth2: {
        ...oauth2,
        ...(oauth2.authorizeUrl && { authorizeUrl: redirect(oauth2.authorizeUrl) }),
        tokenUrl: redirect(oauth2.tokenUrl),
        ...(oauth2.refreshUrl && { refreshUrl: redirect(oauth2.refreshUrl) }),
      },
    }),
  };
}

/** Returns the members of an input that connects an account of the provider. */
export function createAccountInput({ name, hosts, inputs = [], workspaceRequired }: Provider) {
  return {
    provider: name,
    ...(workspaceRequired && { providerWorkspaceRef: 'acme' }),
    providerMetadata: Object.fromEntries(
      inputs.map((input) => [input.name, hosts?.[input.name]?.[0] ?? 'acme']),
    ),
  };
}

/**
 * Starts an OAuth flow, and returns from the consent page with a code. Returns the URL of the consent page, and the page that
 * the person sees at last.
 */
export async function consent(
  app: Pick<TestApp, 'fetch'>,
  tenant: Tenant,
  overrides: object,
): Promise<{ consentUrl: URL; page: string }> {
  const parties = { projectIdOrName: tenant.projectId, groupRef: 'acme', consumerRef: 'ann' };
  const input = { ...parties, ...overrides };
  const { startOAuthConnect } = await tenant.query(START_CONNECT, { input });
  const browser = createOAuthBrowser(app);
  const consentUrl = await browser.open(startOAuthConnect.authorizeUrl);
  const callback = new URL(consentUrl.searchParams.get('redirect_uri') as string);
  callback.search = `code=given&state=${consentUrl.searchParams.get('state')}`;
  const page = await (await browser.send(callback)).text();
  return { consentUrl, page };
}
