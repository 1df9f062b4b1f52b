/** Checks the hosts of addresses that customers enter. */
import type { Provider } from '../../providers/contract.ts';

export type ProviderHosts = Pick<Provider, 'hosts'>;

const HOST_LIST_FORMAT = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** True if the variable may have this host. It may have any host if the provider does not list hosts for it. */
export function isAllowedHost({ hosts }: ProviderHosts, variable: string, host: string): boolean {
  return hosts?.[variable]?.some((pattern) => matchesPattern(pattern, host.toLowerCase())) ?? true;
}

/** Formats the allowed hosts for an error message. Null if any host is allowed. */
export function formatAllowedHosts({ hosts }: ProviderHosts, variable: string): string | null {
  const patterns = hosts?.[variable];
  return patterns ? HOST_LIST_FORMAT.format(patterns) : null;
}

/** True if the list contains the host. `*.` in the list matches all names below a domain. */
export function matchesHost(hosts: readonly string[], host: string): boolean {
  return hosts.some((pattern) => matchesPattern(pattern, host.toLowerCase()));
}

function matchesPattern(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
}
