/** Checks the hosts of addresses that customers enter. */
import type { Provider } from '../../providers/contract.ts';

export type ProviderHosts = Pick<Provider, 'hosts'>;

/** True if the variable may have this host. A variable without a list in the provider may have any host. */
export function isAllowedHost({ hosts }: ProviderHosts, variable: string, host: string): boolean {
  return hosts?.[variable]?.some((pattern) => matches(pattern, host.toLowerCase())) ?? true;
}

/** Formats the allowed hosts for an error message. Null if the provider has no list. */
export function formatAllowedHosts({ hosts }: ProviderHosts, variable: string): string | null {
  const patterns = hosts?.[variable];
  return patterns ? LIST.format(patterns) : null;
}
const LIST = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** True if the host is in the list. `*.` in the list matches all names below a domain. */
export function matchesHost(hosts: readonly string[], host: string): boolean {
  return hosts.some((pattern) => matches(pattern, host.toLowerCase()));
}

function matches(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
}
