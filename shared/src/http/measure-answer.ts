// Metrics and the span of every finished request.
import type { Response } from 'express';
import { instruments, type Span, SpanStatusCode, toMethod } from '../telemetry/index.ts';
import type { Arrival, Beginning } from './request-identity.ts';

export interface AnsweredRequest {
  readonly method: string | undefined;
  /** The path in the contract, such as `/v1/orders/{orderId}`; undefined for an unknown path. */
  readonly route: string | undefined;
  readonly status: number;
}

/** Counts a response by the conventions for HTTP servers, and closes the request's span. */
export function measureAnswer({ began, span, id }: Beginning, answered: AnsweredRequest): void {
  const { route, status } = answered;
  const method = toMethod(answered);
  instruments.serverRequests.record((performance.now() - began) / 1000, {
    'http.request.method': method,
    'http.response.status_code': status,
    ...(route === undefined ? {} : { 'http.route': route }),
  });
  if (span?.isRecording()) describe(span, method, route, status, id);
  span?.end();
}

function describe(span: Span, method: string, route: string | undefined, status: number, id: string): void {
  span.updateName(route === undefined ? method : `${method} ${route}`);
  span.setAttributes({
    'http.request.method': method,
    'http.response.status_code': status,
    'shop.request.id': id,
    ...(route === undefined ? {} : { 'http.route': route }),
    ...(status >= 500 ? { 'error.type': String(status) } : {}),
  });
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Returns the arrival of the request to which this response belongs. */
export function arrivalAt(response: Response): Arrival {
  return response.locals.arrival as Arrival;
}
