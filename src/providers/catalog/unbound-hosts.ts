/** Finds variables in URLs that could send a provider's credentials to any host. */
import type { CatalogEntry } from './catalog-entry.ts';

type Addresses = Pick<
  CatalogEntry,
  'baseUrl' | 'modules' | 'oauth2' | 'custom' | 'hosts' | 'hasCustomerHost'
>;

const VARIABLE = /\{\{(\w+)\}\}/g;
/** Matches hosts that end in two literal labels. */
const LITERAL_HOST = /\.[a-z\d-]+\.[a-z]+(:\d+)?$/i;

/** Returns variables that stand for a whole host or its end, and that no list of hosts restricts. */
export function listUnboundHosts(provider: Addresses): string[] {
  const variables = listUrls(provider).flatMap((url) => {
    const [host = ''] = url.replace(/^https?:\/\//, '').split('/');
    if (LITERAL_HOST.test(host) || hasListedEnd(provider, host)) return [];
    return [...host.matchAll(VARIABLE)].map(([, name = '']) => name);
  });
  const isCustomerHost = (name: string) => name === 'workspace' && provider.hasCustomerHost;
  return variables.filter((name) => !isCustomerHost(name) && !provider.hosts?.[name]?.length);
}

/** True if the host ends in a variable whose hosts are listed. Earlier variables then only name subdomains. */
function hasListedEnd({ hosts }: Addresses, host: string): boolean {
  const [, name = ''] = /\{\{(\w+)\}\}$/.exec(host) ?? [];
  return Boolean(hosts?.[name]?.length);
}

/** Returns the templates of all URLs to which requests with credentials go. */
export function listUrls({ baseUrl, modules = [], oauth2, custom }: Addresses): string[] {
  return [
    baseUrl,
    ...modules.map((module) => module.baseUrl),
    oauth2?.authorizeUrl,
    oauth2?.tokenUrl,
    oauth2?.refreshUrl,
    oauth2?.adminConsent?.url,
    oauth2?.adminConsent?.tokenUrl,
    oauth2?.revocation?.url,
    oauth2?.sharedLogin?.authorizeUrl,
    oauth2?.sharedLogin?.tokenUrl,
    custom?.grant && 'tokenUrl' in custom.grant ? custom.grant.tokenUrl : undefined,
  ].filter((url) => url !== undefined);
}
