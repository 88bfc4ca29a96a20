// Connections to the endpoints of webhooks. An endpoint is chosen by a client, so it must not be inside the network of the shop.
import type { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { isAllowed, isPublic, type Network } from './address-rules.ts';

export interface AddressGuardOptions {
  /** Networks that are allowed although they are not public. To them http and all ports are allowed, too. */
  readonly allowed: readonly Network[];
  /** The public origin of the shop, which gets no webhooks. */
  readonly ownOrigin: string;
  readonly resolver: Resolver;
  /** Milliseconds for which a connection is awaited. */
  readonly connectWithin: number;
}

/** The connection was refused by the rules of addresses. */
export class ForbiddenAddressError extends Error {}

const ports = new Set(['443', '8443']);

/**
 * Returns an agent that looks up a name once, checks all its addresses, and connects to one of these. It follows no redirect.
 * @throws ForbiddenAddressError from requests to other addresses
 */
export function createGuardedAgent(options: AddressGuardOptions): Agent {
  // Webhooks do not share the limit of connections of an origin. Otherwise one that hangs would delay the others.
  return new Agent({ connect: guardedConnector(options), allowH2: false, maxHeaderSize: 16_384 });
}

function guardedConnector({
  allowed,
  ownOrigin,
  resolver,
  connectWithin,
}: AddressGuardOptions): buildConnector.connector {
  const own = new URL(ownOrigin);
  const open = async (target: buildConnector.Options, done: buildConnector.Callback): Promise<void> => {
    const host = toHost(target.hostname);
    const port = target.port || (target.protocol === 'https:' ? '443' : '80');
    if (host === toHost(own.hostname) && port === (own.port || (own.protocol === 'https:' ? '443' : '80'))) {
      throw new ForbiddenAddressError('The address is that of the shop.');
    }
    const addresses = await addressesOf(host, resolver);
    const isWeb = target.protocol === 'https:' && ports.has(port);
    const refused = addresses.find((address) => !(isWeb && isPublic(address)) && !isAllowed(address, allowed));
    if (refused !== undefined) {
      throw new ForbiddenAddressError(
        isPublic(refused)
          ? 'The address must begin with https:// and have the port 443 or 8443.'
          : 'The host has an address that is not public.',
      );
    }
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    const lookup: LookupFunction = (_name, { all }, answer) => {
      const [first] = found;
      if (all === true) answer(null, found);
      else answer(null, first?.address ?? '', first?.family);
    };
    // The sessions of TLS are not kept, because the name can have other addresses at the next connection.
    const connect = buildConnector({ lookup, timeout: connectWithin, allowH2: false, maxCachedSessions: 0 });
    connect(target, done);
  };
  return (target, done) => {
    open(target, done).catch((error: unknown) => done(error instanceof Error ? error : new Error(String(error)), null));
  };
}

/** Returns the name without the dot of the root, or an address without brackets. */
const toHost = (hostname: string): string => hostname.toLowerCase().replace(/^\[|\]$|\.$/g, '');

/** Codes of DNS for a name that has no address of the family. */
const absent = new Set(['ENODATA', 'ENOTFOUND']);

/** Returns all addresses of a host. The functions of the system are not asked, because few of their look-ups run at the same time. */
async function addressesOf(host: string, resolver: Resolver): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  // RFC 6761: this name is not looked up.
  if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1', '::1'];
  const found = (addresses: Promise<string[]>): Promise<string[]> =>
    addresses.catch((error: NodeJS.ErrnoException) => {
      if (absent.has(error.code ?? '')) return [];
      throw error;
    });
  const families = await Promise.all([found(resolver.resolve4(`${host}.`)), found(resolver.resolve6(`${host}.`))]);
  const addresses = families.flat();
  if (addresses.length === 0) throw new Error(`The host ${host} has no address.`);
  return addresses;
}
