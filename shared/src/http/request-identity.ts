// One request id and one trace from the gateway to the e-mail: accepted when they are well-formed, and created
// otherwise.
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { inRequest, random } from '../runtime/index.ts';
import { type Span, startRequestSpan, toTraceparent } from '../telemetry/trace.ts';

export interface RequestIdentity {
  readonly id: string;
  readonly traceparent: string;
}

const safeId = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;
const wellFormedTrace = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Returns the request id from `X-Request-Id`, and this hop's `traceparent` (W3C Trace Context section 3.2) in the
 * caller's trace.
 */
export function requestIdentity(headers: IncomingHttpHeaders): RequestIdentity {
  return { id: idOf(headers), traceparent: nextHop(parentOf(headers)) };
}

function idOf({ 'x-request-id': id }: IncomingHttpHeaders): string {
  return typeof id === 'string' && safeId.test(id) ? id : newId();
}

/** Returns the caller's trace context, if it is valid. */
function parentOf({ traceparent }: IncomingHttpHeaders): string | undefined {
  return typeof traceparent === 'string' && wellFormedTrace.test(traceparent) ? traceparent : undefined;
}

function nextHop(parent: string | undefined): string {
  const [, trace, , flags] = parent?.split('-') ?? [];
  return ['00', trace ?? random(16).toString('hex'), random(8).toString('hex'), flags ?? '00'].join('-');
}

/**
 * Copies the id, because V8 stores the result of `randomUUID` as a tree of twenty parts for as long as the request
 * lasts.
 */
function newId(): string {
  return Buffer.from(randomUUID(), 'latin1').toString('latin1');
}

/** The data of a request that its response needs. */
export interface Beginning {
  readonly id: string;
  /** The time of arrival on the clock of `performance.now()`. */
  readonly began: number;
  /** The span of the request, if its trace may be recorded. */
  readonly span: Span | undefined;
}

/** A request that has just arrived, with the trace context for its own calls. */
export interface Arrival extends Beginning, RequestIdentity {}

export function parseBeginning(headers: IncomingHttpHeaders): Beginning {
  const began = performance.now();
  return { id: idOf(headers), began, span: startRequestSpan(parentOf(headers)) };
}

/** Extends `requestIdentity`: where spans are created, this hop gets one. */
export function parseArrival(headers: IncomingHttpHeaders): Arrival {
  const { id, began, span } = parseBeginning(headers);
  return { id, traceparent: span === undefined ? nextHop(parentOf(headers)) : toTraceparent(span), began, span };
}

/** Gives every response and every log line the id of the request. Runs as the first step. */
export function identify(request: Request, response: Response, next: NextFunction): void {
  const arrival = parseArrival(request.headers);
  response.locals.arrival = arrival;
  response.locals.identity = { id: arrival.id, traceparent: arrival.traceparent };
  inRequest(arrival, next);
}

export function findRequestIdentity(response: Response): RequestIdentity {
  return response.locals.identity as RequestIdentity;
}
