/** Finds variables in URLs that could send a provider's credentials to any host. */
import type { Provider } from '../../src/providers/contract.ts';

const VARIABLE = /\{\{(\w+)\}\}/g;
/** The host ends in two literal labels. */
const OWN_HOST = /\.[a-z\d-]+\.[a-z]+(:\d+)?$/i;

/** Returns variables that stand for a whole host or its end, and that no list of hosts restricts. */
export function unboundHosts(provider: Provider): string[] {
  const unbound = listUrls(provider).flatMap((url) => {
    const [host = ''] = url.replace(/^https?:\/\//, '').split('/');
    if (OWN_HOST.test(host)) return [];
    return [...host.matchAll(VARIABLE)].map(([, name = '']) => name);
  });
  return unbound.filter((name) => !provider.hosts?.[name]?.length);
}

function listUrls({ baseUrl, modules = [], oauth2, custom }: Provider): string[] {
  return [
    baseUrl,
    ...modules.map((module) => module.baseUrl),
    oauth2?.authorizeUrl,
    oauth2?.tokenUrl,
    oauth2?.revocation?.url,
    custom?.serviceAccount?.tokenUrl,
  ].filter((url) => url !== undefined);
}
