// Cross-origin requests of pages (Fetch standard, CORS protocol) to the API.

import { commonHeaders } from './common-headers.ts';
import type { GatewayRequest, GatewayResponse } from './gateway-request.ts';

/** The origins with pages that may call the API: a list, which may contain `anyLocalPort`, or all. */
export type CorsOrigins = ReadonlySet<string> | '*';

/** The entry for every port of `http://localhost`, for pages that are developed on the caller's own machine. */
export const anyLocalPort = 'http://localhost:*';
const localOrigin = /^http:\/\/localhost(?::\d{1,5})?$/;

function isListed(origins: ReadonlySet<string>, origin: string): boolean {
  return origins.has(origin) || (origins.has(anyLocalPort) && localOrigin.test(origin));
}

const apiPath = '/v1/';
// Every header field of a response that the published document describes.
const exposed = [
  'Accept-Encoding',
  'Accept-Patch',
  'Accept-Post',
  'Allow',
  'Content-Disposition',
  'Content-Encoding',
  'Deprecation',
  'ETag',
  'Idempotency-Replayed',
  'Link',
  'Location',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  'X-Request-Id',
].join(', ');
const preflightHeaders = [
  'Access-Control-Allow-Methods',
  'GET, HEAD, POST, PATCH, DELETE',
  'Access-Control-Allow-Headers',
  'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer, X-Request-Id, traceparent, ' +
    'tracestate',
  // Seconds for which browsers cache the result, at most two hours.
  'Access-Control-Max-Age',
  '7200',
] as const;

/**
 * Adds the header fields that let a page of an allowed origin read any response.
 *
 * `Access-Control-Allow-Credentials` is never sent: the shop has no cookies, and pages send the access token
 * themselves.
 * @returns whether the request has an allowed origin
 */
export function allowOrigin(request: GatewayRequest, origins: CorsOrigins | undefined): boolean {
  if (origins === undefined || request.url?.startsWith(apiPath) !== true) return false;
  const { origin } = request.headers;
  // A cache must not send the response for one origin to another.
  if (origins !== '*') request.responseHeaders.push('Vary', 'Origin');
  if (origins !== '*' && (origin === undefined || !isListed(origins, origin))) return false;
  const allowed = origins === '*' ? '*' : String(origin);
  request.responseHeaders.push('Access-Control-Allow-Origin', allowed, 'Access-Control-Expose-Headers', exposed);
  return origin !== undefined;
}

/** Returns whether the request is a CORS preflight. The request itself is validated when it arrives. */
export function isPreflight({ method, headers }: GatewayRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

export function answerPreflight(request: GatewayRequest, response: GatewayResponse): void {
  response.writeHead(204, [...commonHeaders(request), ...preflightHeaders]).end();
}
