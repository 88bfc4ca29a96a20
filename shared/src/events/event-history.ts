// The events about one subject in one schema: those that its service sent, and those that its consumer handled.
import type { Queryable } from '../database/index.ts';

/** An event that the service sent. */
export interface SentEvent {
  readonly kind: 'event';
  readonly at: Date;
  readonly requestId: string;
  readonly traceparent: string | null;
  readonly eventId: string;
  readonly type: string;
  readonly publishedAt: Date | null;
  readonly attempts: number;
  readonly problem: string | null;
}

/** An event that a consumer of the service handled. */
export interface TakenEvent {
  readonly kind: 'delivery';
  readonly at: Date;
  readonly requestId: string;
  readonly eventId: string;
  readonly type: string;
  readonly consumer: string;
  readonly attempt: number;
}

/** One step of a history, as text for people. */
export interface TraceStep {
  readonly at: string;
  readonly what: string;
  readonly requestId?: string;
  readonly traceId?: string;
}

interface StepRow {
  readonly at: Date;
  readonly what: string;
  readonly requestId?: string;
  readonly traceparent?: string | null;
}

const sent = `
  SELECT 'event' AS kind, created_at AS at, request_id AS "requestId", traceparent, id AS "eventId", type,
    published_at AS "publishedAt", attempts, problem
  FROM outbox WHERE subject = $1`;

const taken = `
  SELECT 'delivery' AS kind, taken_at AS at, request_id AS "requestId", event_id AS "eventId", type, consumer, attempt
  FROM inbox WHERE subject = $1`;

/** The events with this subject, in no particular order. Rows past their retention are missing. */
export async function readEvents(from: Queryable, subject: string): Promise<(SentEvent | TakenEvent)[]> {
  const takenEvents = await from.query<TakenEvent>(taken, [subject]);
  const sentEvents = await from.query<SentEvent>(sent, [subject]);
  return [...takenEvents.rows, ...sentEvents.rows];
}

/** The state of an event, as text for people. */
export function tellEvent(event: SentEvent | TakenEvent): string {
  if (event.kind === 'delivery') return `${event.type} taken by ${event.consumer}${ordinal(event.attempt)}`;
  const { type, at, publishedAt, attempts, problem } = event;
  if (publishedAt === null) {
    return `${type} waits to be published${ordinal(attempts)}${problem === null ? '' : `: ${problem}`}`;
  }
  return `${type} published after ${Number(publishedAt) - Number(at)} ms${ordinal(attempts)}`;
}

/** Empty for the first attempt. */
function ordinal(attempt: number): string {
  return attempt > 1 ? `, attempt ${attempt}` : '';
}

/** `readEvents` for people. */
export async function eventHistory(from: Queryable, subject: string): Promise<TraceStep[]> {
  const events = await readEvents(from, subject);
  return events.map((event) => toStep({ ...event, what: tellEvent(event) }));
}

export function toStep({ at, what, requestId, traceparent }: StepRow): TraceStep {
  const traceId = traceparent?.split('-')[1];
  return { at: at.toISOString(), what, ...(requestId && { requestId }), ...(traceId && { traceId }) };
}

/** All steps in the order of time. */
export function byTime(...steps: readonly (readonly TraceStep[])[]): TraceStep[] {
  return steps.flat().sort((a, b) => a.at.localeCompare(b.at));
}
