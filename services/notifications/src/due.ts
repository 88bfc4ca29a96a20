// The e-mails that are due, as rows: a sender claims some for a while, and settles each when it is known what became of it.
import { type Database, sql } from '@shop/shared/database';
import { appendEvents } from '@shop/shared/events';
import { isAboutOrder, type Occasion, type Pace } from './notification.ts';

export type Due = Occasion & {
  readonly id: string;
  readonly requestId: string;
  readonly traceparent: string | null;
  readonly attempts: number;
  /** Of the attempts those that may have reached their reader all the same. */
  readonly unsure: number;
  readonly email: string | null;
  readonly name: string | null;
};

/** What became of an e-mail; one that waits is tried again after the delay, in seconds. */
export interface Outcome {
  readonly status: 'sent' | 'failed' | 'waiting';
  readonly problem?: string;
  readonly unsure?: boolean;
  readonly delay?: number;
}

export interface Tried extends Outcome {
  readonly due: Due;
  /** Of the attempt, for what follows from it. */
  readonly traceparent: string | undefined;
}

// No transaction stays open while an e-mail is sent, which may take many minutes. A claim holds for longer than a sender takes to
// renew it, and shortly enough that the e-mails of one that died do not wait long.
const lease = "interval '30 seconds'";
/** Claims are to be renewed this often, in milliseconds. */
export const renewEvery = 10_000;

// An e-mail whose account is not known yet waits for the account's event; after a week none is expected. Later e-mails about an
// order wait until the first one is no longer waiting.
//
// Each e-mail reserves a time from the share of its recipient, once for each address (generic cell rate algorithm). The row of the
// share is locked, so that any number of senders together keep the pace. An e-mail whose time has not come waits for it.
const claim = `
  WITH due AS (
    SELECT n.id, n.paced_for, n.next_attempt_at, coalesce(n.recipient, r.email) AS email, r.name,
      CASE WHEN n.order_id IS NULL THEN 'account ' ELSE 'order ' END
        || coalesce(n.recipient_key, r.email_key, n.account_id::text) AS share
    FROM notifications n LEFT JOIN recipients r USING (account_id)
    WHERE n.status = 'waiting' AND n.next_attempt_at <= now()
      AND (r.account_id IS NOT NULL OR n.recipient IS NOT NULL OR n.created_at < now() - interval '7 days')
      AND (n.kind = 'order-received' OR NOT EXISTS (
        SELECT FROM notifications AS first
        WHERE first.order_id = n.order_id AND first.kind = 'order-received' AND first.status = 'waiting'))
    ORDER BY n.next_attempt_at
    LIMIT $1
    FOR UPDATE OF n SKIP LOCKED
  ), unpaced AS (
    SELECT id, share, row_number() OVER (PARTITION BY share ORDER BY next_attempt_at, id) AS position,
      count(*) OVER (PARTITION BY share) AS total
    FROM due WHERE paced_for IS DISTINCT FROM share
  ), reserved AS (
    INSERT INTO recipient_paces AS pace (key, reserved_until)
    SELECT share, now() + count(*) * $2::float8 * interval '1 second' FROM unpaced GROUP BY share ORDER BY share
    ON CONFLICT (key) DO UPDATE
    SET reserved_until = greatest(pace.reserved_until, now()) + (excluded.reserved_until - now())
    RETURNING key, reserved_until
  ), paced AS (
    SELECT id, reserved_until - (total - position + $3) * $2::float8 * interval '1 second' AS send_at
    FROM unpaced JOIN reserved ON key = share
  )
  UPDATE notifications n
  SET paced_for = share, next_attempt_at = CASE WHEN send_at > now() THEN send_at ELSE now() + ${lease} END
  FROM due LEFT JOIN paced USING (id) WHERE n.id = due.id
  RETURNING n.id, n.kind, n.details, n.request_id AS "requestId", n.traceparent, n.attempts, n.unsure, due.email, due.name,
    coalesce(send_at > now(), false) AS delayed`;

const renew = `
  UPDATE notifications SET next_attempt_at = now() + ${lease} WHERE id = ANY ($1::uuid[]) AND status = 'waiting'`;

const settle = `
  UPDATE notifications SET
    status = outcome.status,
    attempts = attempts + 1,
    unsure = notifications.unsure + outcome.unsure,
    problem = outcome.problem,
    settled_at = CASE WHEN delay IS NULL THEN clock_timestamp() END,
    next_attempt_at = CASE WHEN delay IS NULL THEN next_attempt_at ELSE clock_timestamp() + delay * interval '1 second' END
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::int[], $5::int[]) AS outcome (id, status, problem, unsure, delay)
  WHERE notifications.id = outcome.id AND notifications.status = 'waiting'
  RETURNING notifications.id, settled_at AS "settledAt"`;

export interface Claim {
  /** No other sender gets them while the claim is renewed. */
  readonly due: readonly Due[];
  /** How many others were due and wait for their recipient's share now. */
  readonly delayed: number;
}

/** Looks at no more than `most` of the e-mails that are due, and claims those that may be sent now. */
export async function claimDue({ pool }: Database, most: number, { burst, secondsEach }: Pace): Promise<Claim> {
  const { rows } = await pool.query<Due & { delayed: boolean }>(claim, [most, secondsEach, burst]);
  const due = rows.filter(({ delayed }) => !delayed);
  return { due, delayed: rows.length - due.length };
}

export async function renewClaims({ pool }: Database, ids: readonly string[]): Promise<void> {
  await pool.query(renew, [ids]);
}

/** Marks the e-mails and appends the events of those that ended: all of them, or none. */
export function settleTried(database: Database, tried: readonly Tried[]): Promise<void> {
  return database.transaction(async (tx) => {
    const outcomes = [
      tried.map(({ due }) => due.id),
      tried.map(({ status }) => status),
      tried.map(({ problem }) => problem ?? null),
      tried.map(({ unsure }) => (unsure === true ? 1 : 0)),
      tried.map(({ delay }) => delay ?? null),
    ];
    const settled = await sql<{ id: string; settledAt: Date | null }>(tx, settle, outcomes, { planEachTime: true });
    const told = tried.flatMap(({ due, status, traceparent }) => {
      const { id, requestId } = due;
      const settledAt = settled.find((row) => row.id === id)?.settledAt;
      if (!settledAt || !isAboutOrder(due)) return [];
      const { kind, details } = due;
      const { orderId, accountId } = details;
      const outcome = status === 'sent' ? ('done' as const) : ('failed' as const);
      return {
        type: 'notification.sent.v1' as const,
        subject: orderId,
        sequence: 1,
        requestId,
        traceparent,
        data: { orderId, accountId, kind, outcome, sentAt: settledAt.toISOString() },
      };
    });
    if (told.length > 0) await appendEvents(tx, told);
  });
}
