// The addresses to which webhooks are sent: public ones, and those that the operator allows.
import type { Variable } from '@shop/shared/runtime';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Network = readonly [Address, number];

/** The part of IPv6 that is assigned to public networks. */
const assignedIpv6: Network = ipaddr.parseCIDR('2000::/3');

const contains = ([network, bits]: Network, address: Address): boolean =>
  network.kind() === address.kind() && address.match([network, bits] as [ipaddr.IPv4, number] & [ipaddr.IPv6, number]);

/**
 * Returns whether everybody reaches the address. Addresses that contain another one (IPv4-mapped, 6to4, Teredo, NAT64) do
 * not count, because the other one may be inside.
 */
export function isPublic(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || contains(assignedIpv6, address));
}

export function isAllowed(text: string, allowed: readonly Network[]): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  return allowed.some((network) => contains(network, address));
}

/** Defines a variable with networks in CIDR notation, separated by commas; by default none. */
export function networkList(name: string): Variable<readonly Network[]> {
  return {
    name,
    fallback: '',
    parse(value) {
      const parts = value.split(',').map((part) => part.trim());
      return parts.filter((part) => part !== '').map(toNetwork);
    },
  };
}

function toNetwork(text: string): Network {
  if (!ipaddr.isValidCIDR(text)) throw new Error('must be a comma-separated list of networks, such as 10.0.0.0/8');
  return ipaddr.parseCIDR(text);
}
