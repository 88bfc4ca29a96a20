// Step `forward`: sends the request to a host of its upstream, and to another host when the first cannot have received
// it.
import { Problem } from '@shop/shared/problem';
import { type Span, toTraceparent } from '@shop/shared/telemetry';
import type { GatewayConfig } from '../entry/gateway-config.ts';
import type { Body, GatewayRequest, GatewayResponse } from '../entry/gateway-request.ts';
import type { Step } from '../entry/policy.ts';
import { receiveBody } from '../entry/request-body.ts';
import { measureAttempt } from './measure-attempt.ts';
import { proxyResponse, UpstreamFailure, WithheldResponse } from './proxy-response.ts';
import type { Upstream, UpstreamDirectory } from './upstream.ts';
import type { UpstreamHost } from './upstream-host.ts';

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);
// With fewer milliseconds left, the request is not sent to the upstream. The value is below the shortest deadline that
// can be configured.
const leastTime = 50;
// A late response counts against an upstream only when it had this many milliseconds, or half of a shorter deadline.
const fairTime = 1_000;

const milliseconds = { type: 'integer', minimum: 1, maximum: 600_000 };

export const forwardSchema = {
  type: 'object',
  properties: {
    serviceEndpoint: { type: 'string' },
    // The number of connections to each host of the upstream.
    connections: { type: 'integer', minimum: 1, default: 128 },
    connectTimeout: { ...milliseconds, default: 1_000 },
    // The time until the response begins. The default is the deadline of a request.
    headersTimeout: milliseconds,
    bodyTimeout: { ...milliseconds, default: 10_000 },
  },
  required: ['serviceEndpoint'],
};

/** The member `forward` of the policy `api`. Times are in milliseconds. */
export interface ForwardConfig {
  readonly serviceEndpoint: string;
  readonly connections: number;
  readonly connectTimeout: number;
  readonly headersTimeout?: number;
  readonly bodyTimeout: number;
}

export interface UpstreamConfig extends ForwardConfig {
  /** Whether the gateway is not ready while the upstream is unavailable; default true. */
  readonly isNeeded?: boolean;
}

/**
 * Opens the upstream that the configuration of a pipeline names.
 * @param deadline milliseconds that a request has in all
 * @throws when the service endpoint has no address
 */
export function openUpstream(
  upstreams: UpstreamDirectory,
  { serviceEndpoint, isNeeded = true, ...times }: UpstreamConfig,
  { serviceEndpoints }: GatewayConfig,
  deadline: number,
): Upstream {
  const addresses = serviceEndpoints[serviceEndpoint]?.url?.split(',') ?? [];
  const origins = addresses.map((address) => new URL(address).origin);
  if (origins.length === 0) throw new Error(`the service endpoint ${serviceEndpoint} has no address`);
  const { connections, connectTimeout, headersTimeout = deadline, bodyTimeout } = times;
  const fair = Math.min(fairTime, headersTimeout, deadline / 2);
  const options = { connections, connectTimeout, headersTimeout, bodyTimeout, fairTime: fair, isNeeded };
  return upstreams.open(serviceEndpoint, origins, options);
}

/** Forwards the request and sends the response. */
export function forward(upstream: Upstream, maximumBody: number): Step {
  return async (request, response) => {
    // A second check. Without it, a change in the order of the steps could open the upstreams to anonymous clients.
    if (!request.authenticated) throw new Error('forward was reached without authenticate');
    const body = await receiveBody(request, response, maximumBody);
    // 408 and not 504, because the time passed while the request arrived. No upstream received it, and it had no
    // effect.
    if (timeLeft(request) < leastTime)
      throw new Problem('request-timeout', 'The request arrived too late to be answered in time.');
    await tryHosts(request, response, upstream, body);
  };
}

/**
 * Makes at most two attempts. The second one is made only when the upstream cannot have received the first, or a retry
 * is harmless. The body has arrived, because the trial of a breaker must not depend on a slow client.
 */
async function tryHosts(
  request: GatewayRequest,
  response: GatewayResponse,
  upstream: Upstream,
  body: Body,
): Promise<void> {
  const first = upstream.choose();
  if (first === undefined) throw upstream.unavailable();
  try {
    await attempt(request, response, upstream, first, body);
  } catch (failure) {
    const mayTry = failure instanceof UpstreamFailure && mayRepeat(request, body, failure);
    const other = mayTry ? upstream.choose(first) : undefined;
    if (other === undefined) throw toProblem(upstream, failure);
    await attempt(request, response, upstream, other, body).catch((second: unknown) => {
      throw toProblem(upstream, second);
    });
  }
}

async function attempt(
  request: GatewayRequest,
  response: GatewayResponse,
  upstream: Upstream,
  host: UpstreamHost,
  body: Body,
): Promise<void> {
  const measured = measureAttempt(request, upstream.name);
  try {
    const status = await proxyResponse(request, response, host, forwardedHeaders(request, body, measured.span), body);
    measured.end(status);
    if (status !== undefined) host.succeeded();
  } catch (failure) {
    if (failure instanceof WithheldResponse) {
      measured.end(failure.status);
      host.succeeded();
      throw failure.problem;
    }
    if (failure instanceof UpstreamFailure) {
      measured.end(undefined, failure);
      // When the request is incomplete, the client was slow or has closed the connection. The failure does not count
      // against the upstream.
      if (failure.counts && request.complete) host.failed();
    }
    throw failure;
  }
}

function forwardedHeaders(request: GatewayRequest, body: Body, span: Span | undefined): string[] {
  const left = Math.max(1, Math.floor(timeLeft(request)));
  const headers = [...request.forwardable, 'request-timeout-ms', String(left)];
  if (request.isKnownClient) headers.push('x-known-client', '1');
  if (span !== undefined) headers[request.traceparentAt] = toTraceparent(span);
  const length = request.headers['content-length'];
  if (body !== undefined && !Buffer.isBuffer(body) && length !== undefined) headers.push('content-length', length);
  return headers;
}

/** Returns milliseconds until the deadline of the request. */
function timeLeft({ deadline }: GatewayRequest): number {
  return deadline - performance.now();
}

/**
 * Returns whether a second attempt is allowed: time is left, and the upstream cannot have received the first attempt or
 * a retry is harmless.
 */
function mayRepeat(request: GatewayRequest, body: Body, { sent, late }: UpstreamFailure): boolean {
  const whole = body === undefined || Buffer.isBuffer(body);
  const harmless =
    safeMethods.has(request.method ?? '') || (request.hasIdempotencyKey && request.operation?.takesKey === true);
  return whole && !late && (!sent || harmless);
}

function toProblem(upstream: Upstream, failure: unknown): unknown {
  if (!(failure instanceof UpstreamFailure)) return failure;
  const { cause } = failure;
  if (failure.late) return new Problem('gateway-timeout', 'The service did not answer in time.', { cause });
  if (!failure.sent) return upstream.unavailable(cause);
  return new Problem('bad-gateway', 'The service gave no valid answer.', { cause });
}
