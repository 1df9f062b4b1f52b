/** The hosts that an address may be at where customers name the whole of it. */
import type { Provider } from '../../providers/contract.ts';

export type KnownHosts = Pick<Provider, 'hosts'>;

/** Whether the variable may stand for the host. One that the provider has no list of may stand for any. */
export function isKnownHost({ hosts }: KnownHosts, variable: string, host: string): boolean {
  return hosts?.[variable]?.some((known) => matches(known, host.toLowerCase())) ?? true;
}

/** For people; null if the provider has no list. */
export function knownHosts({ hosts }: KnownHosts, variable: string): string | null {
  const known = hosts?.[variable];
  return known ? LIST.format(known) : null;
}
const LIST = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Whether a host is one of these, of which `*.` stands for all names below a domain. */
export function isOneOf(hosts: readonly string[], host: string): boolean {
  return hosts.some((known) => matches(known, host.toLowerCase()));
}

function matches(known: string, host: string): boolean {
  return known.startsWith('*.') ? host.endsWith(known.slice(1)) : host === known;
}
