// Client addresses: how proxies write them, and which addresses count as one client.
import type { IncomingHttpHeaders } from 'node:http';
import { isIP, isIPv4, isIPv6 } from 'node:net';

/**
 * Returns the address in an entry of X-Forwarded-For. Proxies write it plain, in brackets, in quotes, or with a port
 * (RFC 7239 section 6). An IPv6 address is returned in its canonical notation.
 * @returns undefined when the entry is not an address
 */
export function addressIn(entry: string): string | undefined {
  const [, quoted = entry] = /^"(.*)"$/.exec(entry) ?? [];
  const [, bracketed] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(quoted) ?? [];
  const [, withPort] = /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(quoted) ?? [];
  const address = bracketed ?? withPort ?? quoted;
  return isIP(address) === 0 || (bracketed !== undefined && !isIPv6(address)) ? undefined : plainAddress(address);
}

/**
 * Returns the canonical notation of an address. An IPv4-mapped IPv6 address becomes its IPv4 address (RFC 4291 section
 * 2.5.5.2).
 */
export function plainAddress(address: string): string {
  if (!isIPv6(address)) return address;
  const [unzoned = ''] = address.split('%');
  const canonical = new URL(`http://[${unzoned}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical) ?? [];
  if (high === undefined || low === undefined) return canonical;
  const [upper, lower] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [upper >> 8, upper & 255, lower >> 8, lower & 255].join('.');
}

/**
 * Returns the network that counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address, because one
 * client usually controls all addresses with the same 64 bits.
 */
export function clientNetwork(address: string): string {
  const plain = plainAddress(address);
  if (isIPv4(plain) || !isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : new Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}

/**
 * Returns the network of the client of a forwarded request. The gateway sends exactly one address in `X-Forwarded-For`,
 * and nothing that the client wrote.
 * @returns undefined for a request that did not pass the gateway
 */
export function forwardedNetwork({ 'x-forwarded-for': address }: IncomingHttpHeaders): string | undefined {
  return typeof address === 'string' && isIP(address) !== 0 ? clientNetwork(address) : undefined;
}
