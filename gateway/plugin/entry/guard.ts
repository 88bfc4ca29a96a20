// The guard: runs before any pipeline, so that it also covers what no pipeline matches.
import { contentTooLarge, Problem } from '@shop/shared/protocol';
import { inRequest } from '@shop/shared/runtime';
import { addressIn, plainAddress } from './client-network.ts';
import type { GatewayRequest, Middleware } from './gateway-request.ts';
import { type HeaderFields, readHeaderFields } from './header-fields.ts';
import { measureRequest } from './measure-request.ts';
import { identifyRequest, traceState } from './request-id.ts';
import { readRequestTarget } from './request-target.ts';

export interface GuardOptions {
  /** How many proxies of ours stand in front; 0 takes nothing that a client says about its address. */
  readonly trustedProxies: number;
  /** Bytes of a request body, of the request target, of the header section. */
  readonly maximumBody: number;
  readonly maximumTarget: number;
  readonly maximumHeader: number;
  /** Milliseconds from the first byte of the request to the last of the answer's header. */
  readonly deadline: number;
}

const withBody = new Set(['POST', 'PUT', 'PATCH']);
const allow = 'GET, HEAD, POST, PATCH, OPTIONS';
const hostForm = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** Refuses what is not plainly one well-formed request, and writes down who and what it is for the policies behind. */
export function guard(options: GuardOptions): Middleware {
  return (request, response, next) => {
    // An answer needs an id and a trace even when the header section is refused below.
    identifyRequest(request);
    measureRequest(request, response);
    request.deadline = performance.now() + options.deadline;
    const fields = readHeaderFields(request.rawHeaders, options.maximumHeader);
    request.forwardable = fields.forwardable;
    request.authorization = fields.single.get('authorization');
    request.hasIdempotencyKey = fields.single.has('idempotency-key');
    readAddress(request, fields, options.trustedProxies);
    // Its target is no path. Every other method is held against those of the path that it names.
    if (request.method === 'CONNECT')
      throw new Problem('method-not-allowed', 'The method CONNECT is not supported.', { headers: { Allow: allow } });
    request.path = readRequestTarget(request.url ?? '', options.maximumTarget);
    checkFraming(request, fields, options.maximumBody);
    const state = traceState(request);
    if (state !== undefined) request.forwardable.push('tracestate', state);
    // Not the request itself: a connection to a service that is opened meanwhile remembers it for as long as it lasts.
    inRequest({ id: request.id, traceparent: request.traceparent }, next);
  };
}

/** The client is the address that the outermost trusted proxy saw; everything left of it anybody could have written. */
function readAddress(request: GatewayRequest, fields: HeaderFields, trustedProxies: number): void {
  request.client = plainAddress(request.socket.remoteAddress ?? '');
  if (trustedProxies > 0) {
    const seen = fields.forwardedFor.split(',').map((address) => address.trim());
    const outermost = seen.slice(-trustedProxies)[0];
    // An entry that is no address says nothing about the client; then the proxy counts as the client.
    request.client = addressIn(outermost ?? '') ?? request.client;
    request.scheme = fields.forwardedProto === 'https' ? 'https' : 'http';
  }
  const host = fields.single.get('host');
  if (host === undefined || !hostForm.test(host))
    throw malformed('host', 'The request needs one valid Host header field.');
  request.forwardable.push('x-forwarded-for', request.client, 'x-forwarded-proto', request.scheme);
  request.forwardable.push('x-forwarded-host', host, 'x-request-id', request.id);
  request.traceparentAt = request.forwardable.push('traceparent', request.traceparent) - 1;
}

/** One reading of where the body ends (RFC 9112 section 6.3). Node has refused both framings together already. */
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
  if (Number(length ?? 0) > maximumBody) throw contentTooLarge(maximumBody);
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
