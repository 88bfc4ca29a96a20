// The gateway's own pages can only be read.
import { Problem } from '@shop/shared/problem';
import { commonHeaders } from '../entry/common-headers.ts';
import type { GatewayRequest, GatewayResponse } from '../entry/gateway-request.ts';

const allow = 'GET, HEAD, OPTIONS';

/**
 * Returns whether the request is GET or HEAD. Sends the response to OPTIONS.
 * @throws Problem 405 with `Allow` for every other method
 */
export function isRead(request: GatewayRequest, response: GatewayResponse): boolean {
  if (request.method === 'GET' || request.method === 'HEAD') return true;
  if (request.method !== 'OPTIONS') {
    const headers = { Allow: allow };
    throw new Problem('method-not-allowed', `The method ${request.method} is not supported here; ${allow} are.`, {
      headers,
    });
  }
  response.writeHead(204, [...commonHeaders(request), 'Allow', allow]).end();
  return false;
}
