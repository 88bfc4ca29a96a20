// What one schema knows of the events about one thing: those that its service sent, and those that it took.
import type pg from 'pg';

/** One step of what happened, for people. */
export interface TraceStep {
  readonly at: string;
  readonly what: string;
  readonly requestId?: string;
  readonly traceId?: string;
}

interface EventRow {
  readonly at: Date;
  readonly what: string;
  readonly requestId: string | null;
  readonly traceparent: string | null;
}

const events = `
  SELECT created_at AS at, request_id AS "requestId", traceparent, type || CASE
      WHEN published_at IS NOT NULL
        THEN ' published after ' || round(extract(epoch FROM published_at - created_at) * 1000) || ' ms'
      ELSE ' waits to be published' || coalesce(': ' || problem, '')
    END AS what
  FROM outbox WHERE subject = $1
  UNION ALL
  SELECT taken_at, request_id, NULL, type || ' taken by ' || consumer
    || CASE WHEN attempt > 1 THEN ', attempt ' || attempt ELSE '' END
  FROM inbox WHERE subject = $1
  ORDER BY at`;

/** The steps of the events whose subject this is, as far as the rows are still kept. */
export async function eventSteps(pool: pg.Pool, subject: string): Promise<TraceStep[]> {
  const { rows } = await pool.query<EventRow>(events, [subject]);
  return rows.map(toStep);
}

export function toStep({ at, what, requestId, traceparent }: EventRow): TraceStep {
  const traceId = traceparent?.split('-')[1];
  return { at: at.toISOString(), what, ...(requestId && { requestId }), ...(traceId && { traceId }) };
}

/** All steps in the order of time. */
export function byTime(...steps: readonly (readonly TraceStep[])[]): TraceStep[] {
  return steps.flat().sort((a, b) => a.at.localeCompare(b.at));
}
