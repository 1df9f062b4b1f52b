/**
 * Which addresses the gateway connects to: the one place that tells. Everything outside the public
 * internet is refused (private, loopback, link-local, shared, reserved, cloud metadata), unless
 * ALLOWED_PRIVATE_TARGETS holds it. An IPv6 address that stands for an IPv4 one is judged as that one.
 */
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Cloud metadata on addresses that count as public; the others are link-local, private or shared. */
const METADATA = ['168.63.129.16'];

/** All that is handed out for the public internet; what else looks like unicast is not routed there. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/** Where an IPv4 address sits in an IPv6 one: mapped, translated (SIIT), NAT64, 6to4. */
const EMBEDDINGS = [
  { range: ipaddr.parseCIDR('::ffff:0:0/96'), firstByte: 12 },
  { range: ipaddr.parseCIDR('::ffff:0:0:0/96'), firstByte: 12 },
  { range: ipaddr.parseCIDR('64:ff9b::/96'), firstByte: 12 },
  { range: ipaddr.parseCIDR('2002::/16'), firstByte: 2 },
];

/** Whether nothing may be sent to this address; true also if the text is not an address. */
export function isRefused(address: string, allowed: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return true;
  const judged = judgedAs(ipaddr.parse(address));
  return !isPublic(judged) && !isAllowed(address, allowed);
}

/** Whether the list of CIDRs holds this address. */
export function isAllowed(address: string, allowed: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  const forms = [parsed, judgedAs(parsed)];
  return allowed.some((cidr) => {
    const range = ipaddr.parseCIDR(cidr);
    return forms.some((form) => form.kind() === range[0].kind() && form.match(range));
  });
}

function judgedAs(address: Address): Address {
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
