// Which request this is: X-Request-Id and the W3C trace context, honoured when they are safe and made otherwise.
import { arrivalOf } from '@shop/shared/protocol';
import type { GatewayRequest } from './gateway-request.ts';

const validState = /^[\x20-\x7e]{1,512}$/;

/** Gives the request its id and this hop's `traceparent`, before anything can be refused. */
export function identifyRequest(request: GatewayRequest): void {
  const { id, traceparent, began, span } = arrivalOf(request.headers);
  request.id = id;
  request.traceparent = traceparent;
  request.began = began;
  request.span = span;
}

/** The client's `tracestate`, unless it came without the trace that it belongs to (Trace Context section 3.3). */
export function traceState(request: GatewayRequest): string | undefined {
  const { traceparent, tracestate } = request.headers;
  if (typeof traceparent !== 'string' || typeof tracestate !== 'string') return undefined;
  const continued = traceparent.slice(0, 35) === request.traceparent.slice(0, 35);
  return continued && validState.test(tracestate) ? tracestate : undefined;
}
