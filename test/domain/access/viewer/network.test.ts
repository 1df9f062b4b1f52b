import { expect, test } from 'vitest';
import { toNetwork } from '../../../../src/domain/access/viewer/network.ts';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['::1', '0:0:0:0::/64'],
  ['local', 'local'],
])('converts the address %s to the network %s', (address, network) => {
  expect(toNetwork(address)).toBe(network);
});
