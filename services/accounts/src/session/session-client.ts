// The client of a session, as the list of sessions shows it.
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { OperationRequest } from '@shop/shared/http';
import { clientNetwork } from '@shop/shared/runtime';
import type { Waiter } from './semaphore.ts';

export interface SessionClient {
  /** The IP address; null when the request did not pass the gateway. */
  readonly address: string | null;
  readonly userAgent: string | null;
}

// The length of the longest textual IPv6 address.
const longestAddress = 45;
const longestUserAgent = 200;

/** The gateway sends exactly one address in `X-Forwarded-For`, and nothing that the client wrote. */
export function sessionClientOf(headers: IncomingHttpHeaders): SessionClient {
  const { 'x-forwarded-for': address, 'user-agent': userAgent = '' } = headers;
  const isAddress = typeof address === 'string' && address.length <= longestAddress && isIP(address) !== 0;
  const shown = userAgent.replaceAll(/\p{Cc}+/gu, ' ').trim();
  return {
    address: isAddress ? address : null,
    userAgent: shown === '' ? null : shown.slice(0, longestUserAgent).trimEnd(),
  };
}

/** Milliseconds that a request without a deadline has, and the part of a deadline that is left for the rest of the work. */
const [withoutDeadline, reserve] = [30_000, 1_000];

/**
 * The client that waits for a hash. The gateway sends the time that is left until it gives up the request.
 * @param isKnown whether the client has proved before that it belongs to the account
 */
export function waiterOf({ headers, signal }: OperationRequest, isKnown: boolean): Waiter {
  const left = Number(headers['request-timeout-ms'] ?? withoutDeadline);
  const maximumWait = Number.isFinite(left) ? Math.max(0, left - reserve) : withoutDeadline;
  return { network: clientNetwork(sessionClientOf(headers).address ?? ''), isKnown, maximumWait, signal };
}
