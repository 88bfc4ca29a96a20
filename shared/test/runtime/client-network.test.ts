// The addresses that count as one client.
import { expect, it } from '@jest/globals';
import { clientNetwork } from '../../src/runtime/index.ts';

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['0:0:0:0:0:FFFF:C000:0201', '192.0.2.1'],
  ['0000:0000:0000:0000:0000:ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:0DB8:1:2::1', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:db8::1:2:3:4:5', '2001:db8:0:1'],
  ['2001:db8::', '2001:db8:0:0'],
  ['2001:db8:1:2:3:4:192.0.2.1', '2001:db8:1:2'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['::1', '0:0:0:0'],
  ['::', '0:0:0:0'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0'],
  ['::fffe:192.0.2.1', '0:0:0:0'],
  ['', ''],
])('the address %s counts as the network %s', (address, network) => {
  expect(clientNetwork(address)).toBe(network);
});
