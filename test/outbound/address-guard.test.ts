import { expect, test } from 'vitest';
import { isAllowed, isForbidden } from '../../src/outbound/address-guard.ts';

test.each([
  ['loopback', '127.0.0.1'],
  ['the end of loopback', '127.255.255.254'],
  ['private 10/8', '10.0.0.1'],
  ['private 172.16/12', '172.31.255.255'],
  ['private 192.168/16', '192.168.1.1'],
  ['link-local, the metadata services of clouds', '169.254.169.254'],
  ['shared address space', '100.100.100.200'],
  ['protocol assignments', '192.0.0.192'],
  ['metadata on a public address', '168.63.129.16'],
  ['the unspecified network', '0.0.0.0'],
  ['documentation', '192.0.2.1'],
  ['benchmarks', '198.18.0.1'],
  ['multicast', '224.0.0.1'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['IPv6 unspecified', '::'],
  ['IPv6 loopback', '::1'],
  ['IPv6 link-local', 'fe80::1'],
  ['IPv6 link-local with a zone', 'fe80::1%eth0'],
  ['IPv6 unique local', 'fd00:ec2::254'],
  ['IPv6 site-local', 'fec0::1'],
  ['IPv6 multicast', 'ff02::1'],
  ['IPv6 documentation', '2001:db8::1'],
  ['IPv6 outside of allocated ranges', '4000::1'],
  ['Teredo', '2001::1'],
  ['mapped', '::ffff:127.0.0.1'],
  ['mapped, in hex', '::ffff:7f00:1'],
  ['translated', '::ffff:0:10.0.0.1'],
  ['IPv4-compatible', '::10.0.0.1'],
  ['NAT64', '64:ff9b::169.254.169.254'],
  ['local NAT64', '64:ff9b:1::808:808'],
  ['6to4', '2002:7f00:1::'],
  ['decimal', '2130706433'],
  ['octal', '0177.0.0.1'],
  ['hex', '0x7f000001'],
  ['short', '127.1'],
  ['a name', 'example.com'],
  ['an empty text', ''],
])('refuses %s: %s', (_description, address) => {
  expect(isForbidden(address, [])).toBe(true);
});

test.each([
  '8.8.8.8',
  '172.32.0.1',
  '169.253.0.1',
  '2606:4700:4700::1111',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '2002:808:808::',
])('permits the public address %s', (address) => {
  expect(isForbidden(address, [])).toBe(false);
});

test('permits only addresses of the allow-list, in every notation', () => {
  const allowList = ['10.1.0.0/16', 'fd00::/8'];
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '64:ff9b::10.1.2.3', 'fd00:ec2::254']) {
    expect(isForbidden(address, allowList)).toBe(false);
    expect(isAllowed(address, allowList)).toBe(true);
  }
  for (const address of ['10.2.0.1', '127.0.0.1', '::1', 'fe80::1']) {
    expect(isForbidden(address, allowList)).toBe(true);
    expect(isAllowed(address, allowList)).toBe(false);
  }
});

test('treats only listed addresses as allowed, and never a name', () => {
  expect(isAllowed('8.8.8.8', [])).toBe(false);
  expect(isAllowed('example.com', ['0.0.0.0/0', '::/0'])).toBe(false);
});
