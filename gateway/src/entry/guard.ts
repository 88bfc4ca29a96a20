// The guard runs before every pipeline, and so also for paths that no pipeline matches.
import { contentTooLarge, Problem } from '@shop/shared/problem';
import { addressIn, inRequest, plainAddress } from '@shop/shared/runtime';
import { commonHeaders } from './common-headers.ts';
import { allowOrigin, answerPreflight, type CorsOrigins, isPreflight } from './cors.ts';
import type { GatewayRequest } from './gateway-request.ts';
import { type HeaderFields, readHeaderFields } from './header-fields.ts';
import { measureRequest } from './measure-request.ts';
import type { Middleware } from './policy.ts';
import { largestFile } from './request-body.ts';
import { identifyRequest, traceState } from './request-id.ts';
import { readRequestTarget } from './request-target.ts';

export interface GuardOptions {
  /** The number of trusted proxies in front of the gateway; with 0, X-Forwarded-For is ignored. */
  readonly trustedProxies: number;
  /** The maximum bytes of a request body that is not a file, of the request target, and of the header section. */
  readonly maximumBody: number;
  readonly maximumTarget: number;
  readonly maximumHeader: number;
  /** Milliseconds from the first byte of the request to the end of the response's header section. */
  readonly deadline: number;
  /** The origins with pages that may call the API; none when undefined. */
  readonly corsOrigins?: CorsOrigins | undefined;
}

const withBody = new Set(['POST', 'PUT', 'PATCH']);
const allow = 'GET, HEAD, POST, PATCH, DELETE, OPTIONS';
/** Container networks also name hosts with underscores, which RFC 3986 section 3.2.2 permits. */
const hostForm = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** Rejects a request that is not unambiguously well-formed, and records its identity for the policies. */
export function guard(options: GuardOptions): Middleware {
  return (request, response, next) => {
    // Every response needs an id and a trace, also when the header section is rejected below.
    identifyRequest(request);
    measureRequest(request, response);
    request.deadline = performance.now() + options.deadline;
    // The header fields are added before the checks, so that the page can read why its request is rejected.
    const fromPage = allowOrigin(request, options.corsOrigins);
    const fields = readHeaderFields(request.rawHeaders, options.maximumHeader);
    request.forwardable = fields.forwardable;
    request.authorization = fields.single.get('authorization');
    request.hasIdempotencyKey = fields.single.has('idempotency-key');
    readAddress(request, fields, options.trustedProxies);
    // The target of CONNECT is not a path. Other methods are checked by the pipeline of the path.
    if (request.method === 'CONNECT')
      throw new Problem('method-not-allowed', 'The method CONNECT is not supported.', { headers: { Allow: allow } });
    checkFraming(request, fields, options.maximumBody);
    // A request about the server as a whole (RFC 9110 section 9.3.7).
    if (request.method === 'OPTIONS' && request.url === '/') {
      response.writeHead(204, [...commonHeaders(request), 'Allow', allow]).end();
      return;
    }
    const { path, target } = readRequestTarget(request.url ?? '', options.maximumTarget);
    request.path = path;
    request.url = target;
    if (fromPage && isPreflight(request)) {
      answerPreflight(request, response);
      return;
    }
    const state = traceState(request);
    if (state !== undefined) request.forwardable.push('tracestate', state);
    // The scope is a copy and not the request itself, because a connection to an upstream retains the scope in which it
    // was opened.
    inRequest({ id: request.id, traceparent: request.traceparent }, next);
  };
}

/** Sets the client's address, as the outermost trusted proxy saw it. A client can forge every earlier entry. */
function readAddress(request: GatewayRequest, fields: HeaderFields, trustedProxies: number): void {
  request.client = plainAddress(request.socket.remoteAddress ?? '');
  if (trustedProxies > 0) {
    const seen = fields.forwardedFor.split(',').map((address) => address.trim());
    const outermost = seen.slice(-trustedProxies)[0];
    // With an entry that is not an address, the proxy counts as the client.
    request.client = addressIn(outermost ?? '') ?? request.client;
    request.scheme = fields.forwardedProto === 'https' ? 'https' : 'http';
  }
  const named = fields.single.get('host');
  if (named === undefined ? request.httpVersion !== '1.0' : !hostForm.test(named))
    throw malformed('host', 'The request needs one valid Host header field.');
  // The host of a target in absolute-form replaces the header field (RFC 9112 section 3.2.2).
  const host = request.authority ?? named;
  if (request.authority !== undefined && !hostForm.test(request.authority))
    throw malformed('', 'The request target has no valid host.');
  request.forwardable.push('x-forwarded-for', request.client, 'x-forwarded-proto', request.scheme);
  if (host !== undefined) request.forwardable.push('x-forwarded-host', host);
  request.forwardable.push('x-request-id', request.id);
  request.traceparentAt = request.forwardable.push('traceparent', request.traceparent) - 1;
}

/**
 * Accepts only framings that every parser reads in the same way (RFC 9112 section 6.3). Node.js already rejects a
 * request with two framings.
 */
function checkFraming(request: GatewayRequest, { single }: HeaderFields, maximumBody: number): void {
  const length = single.get('content-length');
  const coding = single.get('transfer-encoding');
  if (request.httpVersion !== '1.1' && request.httpVersion !== '1.0')
    throw malformed('', 'The HTTP version is not supported.');
  if (
    coding !== undefined &&
    (coding.toLowerCase() !== 'chunked' || request.httpVersion === '1.0' || length !== undefined)
  ) {
    throw malformed('transfer-encoding', 'The only transfer coding is chunked, in HTTP/1.1, without a content length.');
  }
  if (length !== undefined && !/^\d{1,15}$/.test(length))
    throw malformed('content-length', 'The content length is not valid.');
  if (!withBody.has(request.method ?? '') && (coding !== undefined || Number(length ?? 0) > 0)) {
    throw malformed('', `A ${request.method} request has no body.`);
  }
  // The step `match-operation` applies the bound of the operation.
  const most = Math.max(maximumBody, largestFile);
  if (Number(length ?? 0) > most) throw contentTooLarge(most);
  const expectation = single.get('expect');
  if (expectation !== undefined && expectation.toLowerCase() !== '100-continue') {
    throw malformed('expect', 'The only expectation is 100-continue.');
  }
}

function malformed(header: string, detail: string): Problem {
  return new Problem('invalid-request', detail, {
    headers: { Connection: 'close' },
    ...(header === '' ? {} : { errors: [{ header, detail }] }),
  });
}
