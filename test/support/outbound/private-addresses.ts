/** Hosts outside the public internet, in all notations that URLs allow. */
import type { LookupAddress } from 'node:dns';
export const PRIVATE_HOSTS = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '0.0.0.0',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '2852039166',
  '100.64.0.1',
  '168.63.129.16',
  '224.0.0.1',
  '255.255.255.255',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::10.0.0.1]',
  '[2002:7f00:1::]',
  '[2002:a00:1::1]',
  '[fe80::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[ff02::1]',
  '１２７.0.0.1',
];

/** Addresses that a DNS name may resolve to. */
export const PRIVATE_ADDRESSES = [
  '127.0.0.1',
  '10.0.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '169.254.169.254',
  '100.100.100.200',
  '168.63.129.16',
  '::1',
  '::ffff:10.0.0.1',
  '64:ff9b::a00:1',
  '2002:c0a8:1::',
  'fe80::1',
  'fd00::1',
];

/** Returns a DNS lookup that resolves every name to these addresses. */
export function createLookup(...addresses: string[]) {
  return async (): Promise<LookupAddress[]> =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}
