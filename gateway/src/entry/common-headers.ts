// The header fields of every response.
import type { GatewayRequest } from './gateway-request.ts';

const security = [
  'X-Content-Type-Options',
  'nosniff',
  'X-Frame-Options',
  'DENY',
  'Referrer-Policy',
  'no-referrer',
  'Cross-Origin-Resource-Policy',
  'same-origin',
] as const;
const lockedDown = "default-src 'none'; frame-ancestors 'none'";
const overTls = ['Strict-Transport-Security', 'max-age=31536000; includeSubDomains'] as const;

export type Identity = Pick<GatewayRequest, 'id' | 'traceparent' | 'scheme' | 'responseHeaders'>;

/** Returns the header fields of every response, flat: request id, trace, security, and those that policies added. */
export function commonHeaders(request: Identity, contentPolicy: string = lockedDown): string[] {
  const headers = ['X-Request-Id', request.id, 'traceparent', request.traceparent, ...security];
  headers.push('Content-Security-Policy', contentPolicy);
  if (request.scheme === 'https') headers.push(...overTls);
  if (request.responseHeaders.length > 0) headers.push(...request.responseHeaders);
  return headers;
}
