import ipaddr from 'ipaddr.js';

/** The number of 16-bit parts in a /64 prefix. */
const PREFIX_PARTS = 4;

/** Returns the network that rate limits count as one client: an IPv4 address, or the /64 prefix of an IPv6 address. */
export function toNetwork(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  const parsedAddress = ipaddr.process(address);
  if (!(parsedAddress instanceof ipaddr.IPv6)) return parsedAddress.toString();
  return `${parsedAddress.parts
    .slice(0, PREFIX_PARTS)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
