/**
 * Decides which addresses the gateway connects to. It refuses everything outside the public internet (private,
 * loopback, link-local, shared, reserved, cloud metadata) unless ALLOWED_PRIVATE_TARGETS contains it. An IPv6 address
 * that embeds an IPv4 address is checked as that IPv4 address.
 */
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Public addresses of cloud metadata services. Other metadata services have link-local, private or shared addresses. */
const METADATA_ADDRESSES = ['168.63.129.16'];

/** The IPv6 range of the public internet. Other unicast addresses are not routed there. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/** Ranges of IPv6 addresses that embed an IPv4 address: mapped, translated (SIIT), NAT64 and 6to4. */
const EMBEDDED_IPV4_RANGES = [
  { range: ipaddr.parseCIDR('::ffff:0:0/96'), firstByte: 12 },
  { range: ipaddr.parseCIDR('::ffff:0:0:0/96'), firstByte: 12 },
  { range: ipaddr.parseCIDR('64:ff9b::/96'), firstByte: 12 },
  { range: ipaddr.parseCIDR('2002::/16'), firstByte: 2 },
];

/** Returns whether the gateway must not connect to this address. True if the string is not an address. */
export function isForbidden(address: string, allowedRanges: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return true;
  return !isPublic(unwrapAddress(ipaddr.parse(address))) && !isAllowed(address, allowedRanges);
}

/** Returns whether one of the CIDRs contains the address. */
export function isAllowed(address: string, allowedRanges: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsedAddress = ipaddr.parse(address);
  const candidates = [parsedAddress, unwrapAddress(parsedAddress)];
  return allowedRanges.some((cidr) => {
    const range = ipaddr.parseCIDR(cidr);
    return candidates.some(
      (candidate) => candidate.kind() === range[0].kind() && candidate.match(range),
    );
  });
}

/** Returns the embedded IPv4 address. Other addresses are returned unchanged. */
function unwrapAddress(address: Address): Address {
  if (address.kind() === 'ipv4') return address;
  const embedding = EMBEDDED_IPV4_RANGES.find(({ range }) => address.match(range));
  if (!embedding) return address;
  const { firstByte } = embedding;
  return ipaddr.fromByteArray(address.toByteArray().slice(firstByte, firstByte + 4));
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4'
    ? !METADATA_ADDRESSES.includes(address.toString())
    : address.match(GLOBAL_IPV6);
}
