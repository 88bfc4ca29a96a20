// The client of a session, as the list of sessions shows it.
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

export interface SessionClient {
  /** The IP address; null when the request did not pass the gateway. */
  readonly address: string | null;
  readonly userAgent: string | null;
}

// The length of the longest textual IPv6 address.
const longestAddress = 45;
const longestUserAgent = 200;

/**
 * Returns the client's data. The gateway sends exactly one address in `X-Forwarded-For`, and no value that the client
 * wrote.
 */
export function parseSessionClient(headers: IncomingHttpHeaders): SessionClient {
  const { 'x-forwarded-for': address, 'user-agent': userAgent = '' } = headers;
  const isAddress = typeof address === 'string' && address.length <= longestAddress && isIP(address) !== 0;
  const shown = userAgent.replaceAll(/\p{Cc}+/gu, ' ').trim();
  return {
    address: isAddress ? address : null,
    userAgent: shown === '' ? null : shown.slice(0, longestUserAgent).trimEnd(),
  };
}
