// The metric and the span of each attempt at an upstream, and the gauges of the upstreams in force.
import { instruments, observe, type Span, SpanKind, SpanStatusCode, startSpan, toMethod } from '@shop/shared/telemetry';
import type { GatewayRequest } from '../entry/gateway-request.ts';
import type { UpstreamFailure } from './proxy-response.ts';
import type { UpstreamDirectory } from './upstream.ts';

/** A running attempt. The upstream continues the trace from its span. */
export interface Attempt {
  readonly span: Span | undefined;
  /**
   * @param status of the response; undefined without one
   * @param failure why the attempt failed; undefined when the client closed the connection
   */
  end(status: number | undefined, failure?: UpstreamFailure): void;
}

/** Starts the measurement of one attempt to get a response from the upstream `upstream`. */
export function measureAttempt(request: GatewayRequest, upstream: string): Attempt {
  const began = performance.now();
  const attributes = { 'http.request.method': toMethod(request), 'server.address': upstream };
  const span = startSpan(`${toMethod(request)} ${upstream}`, SpanKind.CLIENT, attributes, request.traceparent);
  return {
    span,
    end(status, failure) {
      const outcome = outcomeOf(status, failure);
      instruments.clientRequests.record((performance.now() - began) / 1000, { ...attributes, ...outcome });
      if (span === undefined) return;
      span.setAttributes(outcome);
      if (failure !== undefined || (status ?? 0) >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function outcomeOf(status: number | undefined, failure: UpstreamFailure | undefined): Record<string, string | number> {
  if (failure !== undefined) return { 'error.type': failure.late ? 'timeout' : 'away' };
  return status === undefined ? { 'error.type': 'client gone' } : { 'http.response.status_code': status };
}

/** Registers the gauges of the upstreams in force. They are read at each export of the metrics. */
export function observeUpstreams(upstreams: UpstreamDirectory): void {
  const breaker = { unit: '1', description: 'Whether the breakers of all addresses of a service are open.' };
  observe('shop.breaker.open', breaker, (report) => {
    for (const upstream of upstreams.all) report(upstream.open ? 1 : 0, { 'server.address': upstream.name });
  });
  const hosts = { unit: '{address}', description: 'Addresses of a service, by whether they are in rotation.' };
  observe('shop.upstream.addresses', hosts, (report) => {
    for (const { name, usable, known } of upstreams.all) {
      report(usable, { 'server.address': name, 'shop.state': 'in rotation' });
      report(known - usable, { 'server.address': name, 'shop.state': 'out' });
    }
  });
}
