/**
 * Decides which addresses the gateway connects to. It refuses everything outside the public internet (private,
 * loopback, link-local, shared, reserved, cloud metadata) unless ALLOWED_PRIVATE_TARGETS contains it. An IPv6 address
 * that embeds an IPv4 address is checked as that IPv4 address.
 */
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Addresses of cloud metadata services that count as public. Other such addresses are link-local, private or shared.
 */
const METADATA = ['168.63.129.16'];

/** The IPv6 range of the public internet. Other unicast addresses are not routed there. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/** Ranges of IPv6 addresses that embed an IPv4 address: mapped, translated (SIIT), NAT64 and 6to4. */
const EMBEDDINGS = [
  { range: ipaddr.parseCIDR('::ffff:0:0/96'), firstByte: 12 },
  { range: ipaddr.parseCIDR('::ffff:0:0:0/96'), firstByte: 12 },
  { range: ipaddr.parseCIDR('64:ff9b::/96'), firstByte: 12 },
  { range: ipaddr.parseCIDR('2002::/16'), firstByte: 2 },
];

/** True if nothing may be sent to this address, or if the text is not an address. */
export function isRefused(address: string, allowed: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return true;
  const effective = effectiveAddress(ipaddr.parse(address));
  return !isPublic(effective) && !isAllowed(address, allowed);
}

/** True if one of the CIDRs contains the address. */
export function isAllowed(address: string, allowed: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  const candidates = [parsed, effectiveAddress(parsed)];
  return allowed.some((cidr) => {
    const range = ipaddr.parseCIDR(cidr);
    return candidates.some(
      (candidate) => candidate.kind() === range[0].kind() && candidate.match(range),
    );
  });
}

function effectiveAddress(address: Address): Address {
  if (address.kind() === 'ipv4') return address;
  const embedding = EMBEDDINGS.find(({ range }) => address.match(range));
  if (!embedding) return address;
  const { firstByte } = embedding;
  return ipaddr.fromByteArray(address.toByteArray().slice(firstByte, firstByte + 4));
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4'
    ? !METADATA.includes(address.toString())
    : address.match(GLOBAL_IPV6);
}
