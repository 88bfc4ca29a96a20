// The metric and the span of each request to the gateway.
import { instruments, isMeasuring, SpanStatusCode, toMethod } from '@shop/shared/telemetry';
import type { GatewayRequest, GatewayResponse } from './gateway-request.ts';

/**
 * Records the duration of the request and ends its span when the response closes. Health probes and streams, which
 * last until their clients leave, are not recorded.
 */
export function measureRequest(request: GatewayRequest, response: GatewayResponse): void {
  if (!isMeasuring() && request.span === undefined) return;
  response.on('close', () => record(request, response));
}

function record(request: GatewayRequest, response: GatewayResponse): void {
  const { began, span, operation } = request;
  const status = response.headersSent ? response.statusCode : undefined;
  if (request.path.startsWith('/health/') || (operation?.streams === true && status === 200)) return;
  const attributes = {
    'http.request.method': toMethod(request),
    ...(operation === undefined ? {} : { 'http.route': operation.path }),
    ...(status === undefined ? { 'error.type': 'client gone' } : { 'http.response.status_code': status }),
  };
  instruments.serverRequests.record((performance.now() - began) / 1000, attributes);
  if (span === undefined) return;
  span.updateName(operation === undefined ? toMethod(request) : `${toMethod(request)} ${operation.path}`);
  span.setAttributes({ ...attributes, 'shop.request.id': request.id });
  if (status === undefined || status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
