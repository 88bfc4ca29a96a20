// Checks whether a request was sent by a program on this machine.
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import { plainAddress } from '@shop/shared/runtime';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

/** With another name, the request was sent by a page with a host name that resolves to this machine (DNS rebinding). */
const localHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;

/** Proxies on this machine pass on requests of other machines. They add one of these header fields. */
const proxyFields = ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip'] as const;

interface Received {
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly headers: IncomingHttpHeaders;
}

/** Returns whether a client on this machine sends the request itself, to an address of this machine. */
export function isFromThisMachine({ socket, headers }: Received): boolean {
  const address = plainAddress(socket.remoteAddress ?? '');
  return (
    loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4') &&
    localHost.test(headers.host ?? '') &&
    proxyFields.every((field) => headers[field] === undefined)
  );
}
