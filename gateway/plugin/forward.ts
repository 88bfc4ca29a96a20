// Policy `forward`: hands the request to an address of the service, to another one when the first can have seen nothing.
import { Problem } from '@shop/shared/protocol';
import { type Span, traceparentOf } from '@shop/shared/telemetry';
import type { Address } from './address.ts';
import { bodyOf } from './collect-body.ts';
import { actionSchema, type Body, type GatewayRequest, type GatewayResponse, type Policy } from './exchange.ts';
import { measureAttempt } from './measure.ts';
import { RelayFailure, relay } from './relay.ts';
import type { Service, ServiceDirectory } from './service.ts';

const safe = new Set(['GET', 'HEAD', 'OPTIONS']);

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

/** @param maximumBody bytes of a request body */
export function forward(services: ServiceDirectory, maximumBody: number): Policy {
  return {
    name: 'forward',
    schema,
    policy({ serviceEndpoint, connections, connectTimeout, headersTimeout, bodyTimeout }: ForwardAction, config) {
      const endpoint = config.gatewayConfig.serviceEndpoints[serviceEndpoint];
      const addresses = endpoint?.urls ?? endpoint?.url?.split(',') ?? [];
      const origins = addresses.map((address) => new URL(address).origin);
      if (origins.length === 0) throw new Error(`the service endpoint ${serviceEndpoint} has no address`);
      const options = { connections, connectTimeout, headersTimeout, bodyTimeout };
      const service = services.open(serviceEndpoint, origins, options);
      return (request, response, next) => {
        send(request, response, service, maximumBody).catch(next);
      };
    },
  };
}

async function send(
  request: GatewayRequest,
  response: GatewayResponse,
  service: Service,
  maximumBody: number,
): Promise<void> {
  // Should the pipeline ever lack its checks, nothing gets through.
  if (!request.identified) throw new Error('forward was reached without authenticate');
  service.requireClosed();
  const body = await bodyOf(request, response, maximumBody);
  const first = service.choose();
  try {
    await attempt(request, response, service, first, body);
  } catch (failure) {
    if (!(failure instanceof RelayFailure) || !mayRepeat(request, body, failure)) throw asProblem(service, failure);
    await attempt(request, response, service, service.choose(first), body).catch((second: unknown) => {
      throw asProblem(service, second);
    });
  }
}

async function attempt(
  request: GatewayRequest,
  response: GatewayResponse,
  service: Service,
  address: Address,
  body: Body,
): Promise<void> {
  const measured = measureAttempt(request, service.name);
  try {
    const answered = await relay(request, response, address, forwardedHeaders(request, body, measured.span), body);
    measured.end(answered ? response.statusCode : undefined);
    if (!answered) return;
    address.succeeded();
    service.breaker.succeeded(performance.now());
  } catch (failure) {
    if (failure instanceof RelayFailure) {
      measured.end(undefined, failure);
      // A client that is slow with its body, or leaves in the middle of it, says nothing about the service.
      if (request.complete) {
        address.failed();
        service.breaker.failed(performance.now());
      }
    }
    throw failure;
  }
}

function forwardedHeaders(request: GatewayRequest, body: Body, span: Span | undefined): string[] {
  const left = Math.max(1, Math.floor(request.deadline - performance.now()));
  const headers = [...request.forwardable, 'request-timeout-ms', String(left)];
  if (span !== undefined) headers[request.traceparentAt] = traceparentOf(span);
  const length = request.headers['content-length'];
  if (body !== undefined && !Buffer.isBuffer(body) && length !== undefined) headers.push('content-length', length);
  return headers;
}

/** Once more, when the service cannot have seen it, or seeing it twice is harmless; never when it was late. */
function mayRepeat(request: GatewayRequest, body: Body, { sent, late }: RelayFailure): boolean {
  const whole = body === undefined || Buffer.isBuffer(body);
  const harmless = safe.has(request.method ?? '') || request.hasIdempotencyKey;
  return whole && !late && (!sent || harmless);
}

function asProblem(service: Service, failure: unknown): unknown {
  if (!(failure instanceof RelayFailure)) return failure;
  const { cause } = failure;
  if (failure.late) return new Problem('gateway-timeout', 'The service did not answer in time.', { cause });
  if (!failure.sent) return service.unavailable(1_000, cause);
  return new Problem('bad-gateway', 'The service gave no valid answer.', { cause });
}
