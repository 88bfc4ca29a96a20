// What is told of every request at the gateway, and of every attempt to have a service answer it.
import {
  instruments,
  isMeasuring,
  methodOf,
  observe,
  type Span,
  SpanKind,
  SpanStatusCode,
  startSpan,
} from '@shop/shared/telemetry';
import { type GatewayRequest, type GatewayResponse, watching, whenOver } from './exchange.ts';
import type { RelayFailure } from './relay.ts';
import type { ServiceDirectory } from './service.ts';

/** Counts the request when its answer is over, and ends its span. Probes of health are nobody's requests. */
export function measureRequest(request: GatewayRequest, response: GatewayResponse): void {
  if (!isMeasuring() && request.span === undefined) return;
  response.on('close', record);
}

const record = whenOver((request, response) => {
  const { began, span, operation } = request;
  const status = response.headersSent ? response.statusCode : undefined;
  if (request.path.startsWith('/health/') || (operation?.operationId === watching && status === 200)) return;
  const about = {
    'http.request.method': methodOf(request),
    ...(operation === undefined ? {} : { 'http.route': operation.path }),
    ...(status === undefined ? { 'error.type': 'client gone' } : { 'http.response.status_code': status }),
  };
  instruments.serverRequests.record((performance.now() - began) / 1000, about);
  if (span === undefined) return;
  span.updateName(operation === undefined ? methodOf(request) : `${methodOf(request)} ${operation.path}`);
  span.setAttributes({ ...about, 'shop.request.id': request.id });
  if (status === undefined || status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
});

/** One attempt at a service; its span is what the service continues. */
export interface Attempt {
  readonly span: Span | undefined;
  /** With what it failed, if it did. */
  end(status: number | undefined, failure?: RelayFailure): void;
}

export function measureAttempt(request: GatewayRequest, service: string): Attempt {
  const began = performance.now();
  const about = { 'http.request.method': methodOf(request), 'server.address': service };
  const span = startSpan(`${methodOf(request)} ${service}`, SpanKind.CLIENT, about, request.traceparent);
  return {
    span,
    end(status, failure) {
      const outcome =
        failure !== undefined
          ? { 'error.type': failure.late ? 'timeout' : 'away' }
          : status === undefined
            ? { 'error.type': 'client gone' }
            : { 'http.response.status_code': status };
      instruments.clientRequests.record((performance.now() - began) / 1000, { ...about, ...outcome });
      if (span === undefined) return;
      span.setAttributes(outcome);
      if (failure !== undefined || (status ?? 0) >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** Tells of the services in force whenever somebody reads the metrics. */
export function observeServices(services: ServiceDirectory): void {
  const breaker = { unit: '1', description: 'Whether the breaker of a service is open.' };
  observe('shop.breaker.open', breaker, (tell) => {
    for (const service of services.all) tell(service.breaker.open ? 1 : 0, { 'server.address': service.name });
  });
  const addresses = { unit: '{address}', description: 'Addresses of a service, by whether they are in rotation.' };
  observe('shop.upstream.addresses', addresses, (tell) => {
    for (const { name, usable, known } of services.all) {
      tell(usable, { 'server.address': name, 'shop.state': 'in rotation' });
      tell(known - usable, { 'server.address': name, 'shop.state': 'out' });
    }
  });
}
