// The identity of a request: X-Request-Id and the W3C trace context, accepted when they are safe and created otherwise.
import { parseArrival } from '@shop/shared/protocol';
import type { GatewayRequest } from './gateway-request.ts';

const validState = /^[\x20-\x7e]{1,512}$/;

/**
 * Sets the request's id, arrival time, span and this hop's `traceparent`. Runs before any check can reject the request.
 */
export function identifyRequest(request: GatewayRequest): void {
  const { id, traceparent, began, span } = parseArrival(request.headers);
  request.id = id;
  request.traceparent = traceparent;
  request.began = began;
  request.span = span;
}

/** Returns the client's `tracestate`, unless its trace is not continued (Trace Context section 3.3). */
export function traceState(request: GatewayRequest): string | undefined {
  const { traceparent, tracestate } = request.headers;
  if (typeof traceparent !== 'string' || typeof tracestate !== 'string') return undefined;
  const continued = traceparent.slice(0, 35) === request.traceparent.slice(0, 35);
  return continued && validState.test(tracestate) ? tracestate : undefined;
}
