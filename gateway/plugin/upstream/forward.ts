// Policy `forward`: hands the request to an address of the service, to another one when the first can have seen nothing.
import { Problem } from '@shop/shared/protocol';
import type { Log } from '@shop/shared/runtime';
import { type Span, traceparentOf } from '@shop/shared/telemetry';
import {
  actionSchema,
  type Body,
  type GatewayRequest,
  type GatewayResponse,
  type Policy,
} from '../entry/gateway-request.ts';
import type { GuardOptions } from '../entry/guard.ts';
import { readBody } from '../entry/request-body.ts';
import { sendProblem } from '../entry/send-response.ts';
import { measureAttempt } from './measure-attempt.ts';
import { proxyResponse, UpstreamFailure } from './proxy-response.ts';
import type { Upstream, UpstreamDirectory } from './upstream.ts';
import type { UpstreamHost } from './upstream-host.ts';

const safe = new Set(['GET', 'HEAD', 'OPTIONS']);
// A request with less than this left is not worth a question. Less than the shortest deadline that can be configured.
const leastTime = 50;
// So much of its own a service has had that was late, before it is held against it; or half of a deadline that is shorter.
const fairTime = 1_000;

const milliseconds = { type: 'integer', minimum: 1, maximum: 600_000 };

const schema = {
  ...actionSchema('forward', { serviceEndpoint: { type: 'string' } }),
  properties: {
    serviceEndpoint: { type: 'string' },
    // For each address of the service.
    connections: { type: 'integer', minimum: 1, default: 128 },
    connectTimeout: { ...milliseconds, default: 1_000 },
    headersTimeout: { ...milliseconds, default: 10_000 },
    bodyTimeout: { ...milliseconds, default: 10_000 },
  },
  additionalProperties: true,
};

interface ForwardAction {
  readonly serviceEndpoint: string;
  readonly connections: number;
  readonly connectTimeout: number;
  readonly headersTimeout: number;
  readonly bodyTimeout: number;
}

/** @param guard the bound of a request's body, and its deadline */
export function forward(services: UpstreamDirectory, { maximumBody, deadline }: GuardOptions, log: Log): Policy {
  return {
    name: 'forward',
    schema,
    policy({ serviceEndpoint, connections, connectTimeout, headersTimeout, bodyTimeout }: ForwardAction, config) {
      const addresses = config.gatewayConfig.serviceEndpoints[serviceEndpoint]?.url?.split(',') ?? [];
      const origins = addresses.map((address) => new URL(address).origin);
      if (origins.length === 0) throw new Error(`the service endpoint ${serviceEndpoint} has no address`);
      const fair = Math.min(fairTime, headersTimeout, deadline / 2);
      const options = { connections, connectTimeout, headersTimeout, bodyTimeout, fairTime: fair };
      const service = services.open(serviceEndpoint, origins, options);
      return (request, response) => {
        request.leaveEngine();
        void send(request, response, service, maximumBody, log);
      };
    },
  };
}

/** Never rejects: what goes wrong is answered. */
async function send(
  request: GatewayRequest,
  response: GatewayResponse,
  service: Upstream,
  maximumBody: number,
  log: Log,
): Promise<void> {
  try {
    // Should the pipeline ever lack its checks, nothing gets through.
    if (!request.identified) throw new Error('forward was reached without authenticate');
    const body = await readBody(request, response, maximumBody);
    // 408 and not 504: the time went by while the request came in, no service was asked, and nothing was done.
    if (timeLeft(request) < leastTime)
      throw new Problem('request-timeout', 'The request arrived too late to be answered in time.');
    // Not before: the one request that an open breaker lets through must not be somebody's who is slow to send it.
    service.requireClosed();
    await ask(request, response, service, body);
  } catch (error) {
    sendProblem(request, response, error, log);
  }
}

/** At most twice: at another address when the first can have seen nothing, or asking again is harmless. */
async function ask(request: GatewayRequest, response: GatewayResponse, service: Upstream, body: Body): Promise<void> {
  const first = service.choose();
  try {
    await attempt(request, response, service, first, body);
  } catch (failure) {
    if (!(failure instanceof UpstreamFailure) || !mayRepeat(request, body, failure)) throw asProblem(service, failure);
    await attempt(request, response, service, service.choose(first), body).catch((second: unknown) => {
      throw asProblem(service, second);
    });
  }
}

async function attempt(
  request: GatewayRequest,
  response: GatewayResponse,
  service: Upstream,
  address: UpstreamHost,
  body: Body,
): Promise<void> {
  const measured = measureAttempt(request, service.name);
  try {
    const answered = await proxyResponse(
      request,
      response,
      address,
      forwardedHeaders(request, body, measured.span),
      body,
    );
    measured.end(answered ? response.statusCode : undefined);
    if (!answered) return;
    address.succeeded();
    service.breaker.succeeded(performance.now());
  } catch (failure) {
    if (failure instanceof UpstreamFailure) {
      measured.end(undefined, failure);
      // A client that is slow with its body, or leaves in the middle of it, says nothing about the service.
      if (failure.counts && request.complete) {
        address.failed();
        service.breaker.failed(performance.now());
      }
    }
    throw failure;
  }
}

function forwardedHeaders(request: GatewayRequest, body: Body, span: Span | undefined): string[] {
  const left = Math.max(1, Math.floor(timeLeft(request)));
  const headers = [...request.forwardable, 'request-timeout-ms', String(left)];
  if (span !== undefined) headers[request.traceparentAt] = traceparentOf(span);
  const length = request.headers['content-length'];
  if (body !== undefined && !Buffer.isBuffer(body) && length !== undefined) headers.push('content-length', length);
  return headers;
}

/** Milliseconds until the deadline of the request. */
function timeLeft({ deadline }: GatewayRequest): number {
  return deadline - performance.now();
}

/** Once more, when the service cannot have seen it, or seeing it twice is harmless; never when it was late. */
function mayRepeat(request: GatewayRequest, body: Body, { sent, late }: UpstreamFailure): boolean {
  const whole = body === undefined || Buffer.isBuffer(body);
  const harmless =
    safe.has(request.method ?? '') || (request.hasIdempotencyKey && request.operation?.takesKey === true);
  return whole && !late && (!sent || harmless);
}

function asProblem(service: Upstream, failure: unknown): unknown {
  if (!(failure instanceof UpstreamFailure)) return failure;
  const { cause } = failure;
  if (failure.late) return new Problem('gateway-timeout', 'The service did not answer in time.', { cause });
  if (!failure.sent) return service.unavailable(1_000, cause);
  return new Problem('bad-gateway', 'The service gave no valid answer.', { cause });
}
