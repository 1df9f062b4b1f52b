/** Returns the network of an address, for limits: an IPv4 address itself, and the /64 of an IPv6 address. */
import ipaddr from 'ipaddr.js';

const PREFIX_PARTS = 4;

export function toNetwork(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return `${parsed.parts
    .slice(0, PREFIX_PARTS)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
