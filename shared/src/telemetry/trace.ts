// Spans. They are created at the few entry points of all work. The context of a trace is its `traceparent`, which
// requests, outbox rows, messages and e-mails contain. No other context is propagated.
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { inRequest, type RequestScope, requestNow } from '../runtime/request-scope.ts';

export { type Attributes, type Span, SpanKind, SpanStatusCode };

let tracer: Tracer | undefined;
let decides = false;

/**
 * Starts making spans, or with undefined stops it.
 * @param edge whether clients send the requests; their decision about recording is then ignored
 */
export function traceWith(next: Tracer | undefined, edge: boolean): void {
  tracer = next;
  decides = edge;
}

/**
 * Starts the span of an incoming request, as a child of `parent` if the caller sent one. The gateway decides here for
 * all processes whether the trace is recorded. Undefined when this process makes no spans, or when a process before it
 * decided against recording.
 */
export function startRequestSpan(parent: string | undefined): Span | undefined {
  if (parent !== undefined && !decides && !isSampled(parent)) return undefined;
  return tracer?.startSpan('request', { kind: SpanKind.SERVER }, contextOf(parent));
}

/** Starts a child span of `parent`; undefined when the trace is not recorded. */
export function startSpan(
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  parent: string | null | undefined = requestNow()?.traceparent,
): Span | undefined {
  if (tracer === undefined || parent === undefined || parent === null || !isSampled(parent)) return undefined;
  return tracer.startSpan(name, { kind, attributes }, contextOf(parent));
}

/** Returns whether the present request is recorded. If not, callers need not compute attributes of a span. */
export function isTraced(): boolean {
  if (tracer === undefined) return false;
  const traceparent = requestNow()?.traceparent;
  return traceparent !== undefined && isSampled(traceparent);
}

/** Closes a span as failed. The error's message is omitted, because it may contain a customer's data. */
export function failSpan(span: Span, error: unknown): void {
  span.setAttribute('error.type', errorType(error));
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** Runs `work` in a child span of the present request, or without a span when the request is not recorded. */
export function inSpan<T>(name: string, kind: SpanKind, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  const scope = requestNow();
  const span = scope && startSpan(name, kind, attributes, scope.traceparent);
  return span === undefined || scope === undefined ? work() : runInSpan(span, scope, work);
}

/** Runs `work` as part of a request, in this span. */
export async function runInSpan<T>(span: Span, { id }: Pick<RequestScope, 'id'>, work: () => Promise<T>): Promise<T> {
  try {
    const result = await inRequest({ id, traceparent: toTraceparent(span) }, work);
    span.end();
    return result;
  } catch (error) {
    failSpan(span, error);
    throw error;
  }
}

/** Returns the trace context that the next hop gets (W3C Trace Context section 3.2). */
export function toTraceparent(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags & 1 ? '01' : '00'}`;
}

/** Returns whether the sender of this context records the trace. */
function isSampled(traceparent: string): boolean {
  return (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1;
}

function contextOf(traceparent: string | undefined): Context {
  if (traceparent === undefined) return ROOT_CONTEXT;
  const [, traceId = '', spanId = ''] = traceparent.split('-');
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: isSampled(traceparent) ? 1 : 0,
    isRemote: true,
  });
}

function errorType(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}
