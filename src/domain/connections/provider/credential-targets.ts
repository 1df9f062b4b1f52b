/**
 * Binds stored credentials to the addresses of the custom provider for which they were entered. Otherwise a change of its
 * document could send the credentials of all customers to another server.
 */
import { hash } from 'node:crypto';
import type { CatalogEntry } from '../../../providers/catalog/catalog-entry.ts';
import type { Provider } from '../../../providers/contract.ts';
import { ProviderError } from '../../../providers/provider-error.ts';

/** A row with credentials: a connection or a provider app. */
interface BoundCredentials {
  credentialTargets: string | null;
}

/**
 * Returns a hash of everything that decides where credentials are sent: the hosts of the API, and the URLs at which tokens
 * are issued and revoked.
 */
export function hashTargets({
  baseUrl,
  modules = [],
  hosts = {},
  hasCustomerHost = false,
  linkHosts = [],
  oauth2,
  custom,
}: CatalogEntry): string {
  const { authorizeUrl, tokenUrl, refreshUrl, sharedLogin, revocation } = oauth2 ?? {};
  const grant = custom?.grant;
  const apiHosts = [baseUrl, ...modules.map((module) => module.baseUrl)].map(toHostTemplate);
  const targets = {
    hosts: [...new Set(apiHosts)].sort(),
    linkHosts: [...linkHosts].sort(),
    allowedHosts: Object.entries(hosts).sort(([a], [b]) => (a < b ? -1 : 1)),
    hasCustomerHost,
    urls: [
      authorizeUrl,
      tokenUrl,
      refreshUrl,
      sharedLogin?.authorizeUrl,
      sharedLogin?.tokenUrl,
      revocation?.url,
      grant && 'tokenUrl' in grant ? grant.tokenUrl : undefined,
    ],
  };
  return hash('sha256', JSON.stringify(targets), 'base64url');
}

/** Returns the scheme, the host and the port of an address, with their variables. */
function toHostTemplate(address: string): string {
  const [host] = /^(\w+:\/\/)?[^/]*/.exec(address) ?? [address];
  return host.toLowerCase();
}

/** Returns the hash to store with credentials that are entered now. Null for a built-in provider. */
export function findTargets(provider: Pick<Provider, 'document'> | null): string | null {
  return provider?.document?.credentialTargets ?? null;
}

/** True if the credentials were entered for the addresses that the provider has now. */
export function areForProvider(
  provider: Pick<Provider, 'document'> | null,
  { credentialTargets }: BoundCredentials,
): boolean {
  return findTargets(provider) === credentialTargets;
}

/** Throws AUTH_INVALIDATED if the credentials were entered for other addresses. Must precede each use of the credentials. */
export function requireForProvider(provider: Provider, credentials: BoundCredentials): void {
  if (areForProvider(provider, credentials)) return;
  throw new ProviderError('AUTH_INVALIDATED', describeOtherTargets(provider));
}

export function describeOtherTargets({ displayName }: Pick<Provider, 'displayName'>): string {
  return `The addresses of ${displayName} have changed since the account was connected. Connect the account again.`;
}

/** Throws BAD_REQUEST if the secret of a provider app was entered for other addresses. */
export function requireAppForProvider(provider: Provider | null, app: BoundCredentials): void {
  if (!provider || areForProvider(provider, app)) return;
  throw new ProviderError(
    'BAD_REQUEST',
    `The addresses of ${provider.displayName} have changed since the client secret of its provider app was entered. Enter it again with updateProviderApp.`,
  );
}
