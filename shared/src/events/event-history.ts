// The events about one subject in one schema: those that its service sent, and those that its consumer handled.
import type { Queryable } from '../database/index.ts';
import type { TraceStep } from './trace-step.ts';

/** One step of a history. The further members are the details from which `what` is composed. */
export interface HistoryStep {
  readonly kind: string;
  readonly at: Date;
  /** A readable description of the step. */
  readonly what: string;
  /** The id of the request that began the chain of events; null when the schema does not store it. */
  readonly requestId: string | null;
  readonly traceparent?: string | null;
  readonly [detail: string]: unknown;
}

interface SentEvent extends Omit<HistoryStep, 'what'> {
  readonly kind: 'event';
  readonly at: Date;
  readonly requestId: string;
  readonly type: string;
  readonly publishedAt: Date | null;
  readonly attempts: number;
  readonly problem: string | null;
}

interface HandledEvent extends Omit<HistoryStep, 'what'> {
  readonly kind: 'delivery';
  readonly at: Date;
  readonly requestId: string;
  readonly type: string;
  readonly consumer: string;
  readonly attempt: number;
}

const sent = `
  SELECT 'event' AS kind, created_at AS at, request_id AS "requestId", traceparent, id AS "eventId", type,
    published_at AS "publishedAt", attempts, problem
  FROM outbox WHERE subject = $1`;

const handled = `
  SELECT 'delivery' AS kind, taken_at AS at, request_id AS "requestId", event_id AS "eventId", type, consumer, attempt
  FROM inbox WHERE subject = $1`;

/** Returns the events with this subject, in no particular order. Deleted rows (see retention) are missing. */
export async function eventHistory(from: Queryable, subject: string): Promise<HistoryStep[]> {
  const handledEvents = await from.query<HandledEvent>(handled, [subject]);
  const sentEvents = await from.query<SentEvent>(sent, [subject]);
  return [
    ...handledEvents.rows.map((event) => ({ ...event, what: describeHandled(event) })),
    ...sentEvents.rows.map((event) => ({ ...event, what: describeSent(event) })),
  ];
}

function describeHandled({ type, consumer, attempt }: HandledEvent): string {
  return `${type} taken by ${consumer}${ordinal(attempt)}`;
}

function describeSent({ type, at, publishedAt, attempts, problem }: SentEvent): string {
  if (publishedAt === null) {
    return `${type} waits to be published${ordinal(attempts)}${problem === null ? '' : `: ${problem}`}`;
  }
  return `${type} published after ${Number(publishedAt) - Number(at)} ms${ordinal(attempts)}`;
}

/** Returns an empty string for the first attempt. */
function ordinal(attempt: number): string {
  return attempt > 1 ? `, attempt ${attempt}` : '';
}

/** Returns the step for a response. */
export function toTraceStep({ kind, at, what, requestId, traceparent }: HistoryStep): TraceStep {
  const traceId = traceparent?.split('-')[1];
  return { kind, at: at.toISOString(), what, ...(requestId && { requestId }), ...(traceId && { traceId }) };
}
