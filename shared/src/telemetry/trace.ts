// Spans, made at the few doors that all work goes through. The context of a trace is its `traceparent`, which travels with
// requests, outbox rows, messages and e-mails anyway; nothing else is carried about.
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
 * From now on spans are made.
 * @param edge requests come in from outside: what a client says of recording counts for nothing
 */
export function traceWith(next: Tracer, edge: boolean): void {
  tracer = next;
  decides = edge;
}

/**
 * The span of a request that has just come in, below `parent` where the caller sent one. Whether the trace is recorded is decided
 * here, once for all processes. Undefined when this process makes no spans, or somebody before it decided against.
 */
export function startRequestSpan(parent: string | undefined): Span | undefined {
  if (parent !== undefined && !decides && !isSampled(parent)) return undefined;
  return tracer?.startSpan('request', { kind: SpanKind.SERVER }, contextOf(parent));
}

/** A span below `parent`; undefined when that trace is not recorded, and then nothing needs to be done for it. */
export function startSpan(
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  parent: string | null | undefined = requestNow()?.traceparent,
): Span | undefined {
  if (tracer === undefined || parent === undefined || parent === null || !isSampled(parent)) return undefined;
  return tracer.startSpan(name, { kind, attributes }, contextOf(parent));
}

/** Whether the present request is recorded, so that a span of it is worth describing. */
export function isTraced(): boolean {
  if (tracer === undefined) return false;
  const traceparent = requestNow()?.traceparent;
  return traceparent !== undefined && isSampled(traceparent);
}

/** Ends a span as failed; what the error says stays out of it, for it may be a customer's. */
export function failSpan(span: Span, error: unknown): void {
  span.setAttribute('error.type', errorType(error));
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** Runs `work` in a span below that of the present request, or just runs it when nothing is recorded. */
export function inSpan<T>(name: string, kind: SpanKind, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  const scope = requestNow();
  const span = scope && startSpan(name, kind, attributes, scope.traceparent);
  return span === undefined || scope === undefined ? work() : runInSpan(span, scope, work);
}

/** Runs `work` for a request, in this span of it. */
export async function runInSpan<T>(span: Span, { id }: Pick<RequestScope, 'id'>, work: () => Promise<T>): Promise<T> {
  try {
    const result = await inRequest({ id, traceparent: traceparentOf(span) }, work);
    span.end();
    return result;
  } catch (error) {
    failSpan(span, error);
    throw error;
  }
}

/** The trace context that the next hop gets (W3C Trace Context section 3.2). */
export function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags & 1 ? '01' : '00'}`;
}

/** Whether the sender of this context records the trace. */
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
