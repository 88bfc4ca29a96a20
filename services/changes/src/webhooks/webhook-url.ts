// The rules for the address of a webhook that need no look-up of its name. address-guard.ts checks the addresses at each connection.
import { isIP } from 'node:net';
import type { OperationRequest } from '@shop/shared/http';
import type { Fault } from '@shop/shared/problem';
import { isAllowed, type Network } from './address-rules.ts';

export interface UrlRules {
  /** The networks of `WEBHOOKS_ALLOW`, which requests may reach although they are not public. */
  readonly allowed: readonly Network[];
  /** The address of the shop itself. */
  readonly shop: string;
}

const ports = ['', '8443'];

/**
 * Returns what is wrong with the address of a webhook; undefined for a valid one. With networks in `allowed`, the scheme and the port of
 * a name depend on its addresses, so they are checked at each connection.
 */
export function findUrlFault(text: string, { allowed, shop }: UrlRules): string | undefined {
  const url = URL.parse(text);
  if (url === null || !['https:', 'http:'].includes(url.protocol)) return 'must be an absolute https URL';
  if (url.username !== '' || url.password !== '') return 'must not contain a user or a password';
  if (hostOf(url) === hostOf(URL.parse(shop))) return 'must not be the address of the shop';
  const address = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0) {
    return isAllowed(address, allowed) ? undefined : 'must have a name in place of an address';
  }
  if (allowed.length > 0) return undefined;
  if (url.protocol !== 'https:') return 'must be an absolute https URL';
  return ports.includes(url.port) ? undefined : 'must have the port 443 or 8443';
}

/** Returns host and port, without the dot at the end of a complete name. */
function hostOf(url: URL | null): string | undefined {
  return url?.host.replace(/\.(?=:|$)/, '');
}

/** Returns the faults of `url` in a body, unless the contract has refused it. */
export function urlFaults({ body, faults }: Pick<OperationRequest, 'body' | 'faults'>, rules: UrlRules): Fault[] {
  if (faults.some(({ pointer }) => pointer === '' || pointer === '/url')) return [];
  const { url } = (body ?? {}) as { readonly url?: string };
  const detail = url === undefined ? undefined : findUrlFault(url, rules);
  return detail === undefined ? [] : [{ pointer: '/url', detail }];
}
