// The queue of e-mails in PostgreSQL: a sender claims due e-mails for a while, and records the outcome of each.
import { type Database, sql } from '@shop/shared/database';
import { appendEvents } from '@shop/shared/events';
import { isAboutOrder, type Occasion } from './notification.ts';
import { emailRateLimitKey, networkFactor, networkRateLimitKey, type RateLimit } from './rate-limit.ts';
import { verificationTimeout, withholdEmails } from './withheld-emails.ts';

export type QueuedEmail = Occasion & {
  readonly id: string;
  readonly requestId: string;
  readonly traceparent: string | null;
  readonly attempts: number;
  /** The number of attempts that failed and may still have delivered the e-mail. */
  readonly uncertainAttempts: number;
  /** Null while the account is not known. */
  readonly address: string | null;
  readonly name: string | null;
  readonly locale: string | null;
  /** Whether the e-mail has waited in vain for the verification of its address. */
  readonly unverified: boolean;
  /** The number of times that an operator has resent the e-mail. */
  readonly resends: number;
};

/** The outcome of an attempt. A waiting e-mail is tried again after the delay, in seconds. */
export interface SendOutcome {
  readonly status: 'sent' | 'failed' | 'waiting' | 'withheld';
  readonly problem?: string;
  readonly uncertain?: boolean;
  readonly delay?: number;
}

export interface AttemptedEmail extends SendOutcome {
  readonly email: QueuedEmail;
  /** The trace context of the attempt, for the event that it causes. */
  readonly traceparent: string | undefined;
}

// The time after which a claim expires. No transaction stays open while an e-mail is sent, because sending may take
// many minutes. A claim lasts longer than the interval of its renewal, and is short enough that the e-mails of a dead
// sender do not wait long.
const lease = "interval '30 seconds'";
/** The interval at which a sender renews its claims, in milliseconds. */
export const renewEvery = 10_000;

// An e-mail to an unknown account waits for the account's event, for at most a week. An e-mail to an unverified address
// waits as long for the verification. Later e-mails about an order wait until the first one is no longer waiting. The
// e-mail about its cancellation also waits for the one about its payment. When the cancellation was handled first, the
// e-mails about receipt and payment are obsolete, so that none of them follows it. An e-mail that has reserved a time
// was claimed before, and may have been sent.
//
// Each e-mail reserves a time in the rate limit of its recipient, once for each address (generic cell rate algorithm).
// At its first claim it also reserves one in the rate limit of the client network that caused it. It waits for the
// later time. The rows of the rate limits are locked, so that all senders together obey the rates.
const claim = `
  WITH due AS (
    SELECT n.id, n.paced_for, n.next_attempt_at, coalesce(n.recipient, r.email) AS email, r.name,
      coalesce(n.details ->> 'locale', r.locale) AS locale,
      n.recipient IS NULL AND r.verified IS FALSE AS unverified, n.created_at < now() - ${verificationTimeout} AS late,
      ${emailRateLimitKey} AS limit_key,
      CASE WHEN n.paced_for IS NULL AND n.resends = 0 THEN ${networkRateLimitKey} END AS network_key,
      n.kind IN ('order-received', 'order-paid') AND n.paced_for IS NULL AND n.resends = 0 AND EXISTS (
        SELECT FROM notifications AS cancellation
        WHERE cancellation.order_id = n.order_id AND cancellation.kind = 'order-cancelled'
          AND (cancellation.status <> 'waiting' OR cancellation.created_at <= n.created_at)) AS obsolete
    FROM notifications n LEFT JOIN recipients r USING (account_id)
    WHERE n.status = 'waiting' AND n.next_attempt_at <= now()
      AND (r.account_id IS NOT NULL OR n.recipient IS NOT NULL OR n.created_at < now() - ${verificationTimeout})
      AND (n.kind = 'order-received' OR r.verified IS FALSE OR NOT EXISTS (
        SELECT FROM notifications AS first
        WHERE first.order_id = n.order_id AND first.status = 'waiting'
          AND (first.kind = 'order-received' OR n.kind = 'order-cancelled' AND first.kind = 'order-paid')))
    ORDER BY n.next_attempt_at
    LIMIT $1
    FOR UPDATE OF n SKIP LOCKED
  ), unpaced AS (
    SELECT id, key, burst, each, row_number() OVER (PARTITION BY key ORDER BY next_attempt_at, id) AS position,
      count(*) OVER (PARTITION BY key) AS total
    FROM due, LATERAL (VALUES
      (limit_key, $3::float8, $2 * interval '1 second'),
      (network_key, $3 * ${networkFactor}, $2 * interval '1 second' / ${networkFactor})) AS limits (key, burst, each)
    WHERE NOT obsolete AND NOT unverified AND paced_for IS DISTINCT FROM limit_key AND key IS NOT NULL
  ), reserved AS (
    INSERT INTO recipient_paces AS pace (key, reserved_until)
    SELECT key, now() + sum(each) FROM unpaced GROUP BY key ORDER BY key
    ON CONFLICT (key) DO UPDATE
    SET reserved_until = greatest(pace.reserved_until, now()) + (excluded.reserved_until - now())
    RETURNING key, reserved_until
  ), paced AS (
    SELECT id, max(reserved_until - (total - position + burst) * each) AS send_at
    FROM unpaced JOIN reserved USING (key) GROUP BY id
  )
  UPDATE notifications n
  SET status = CASE WHEN obsolete THEN 'obsolete' ELSE n.status END,
    settled_at = CASE WHEN obsolete THEN now() END,
    paced_for = CASE WHEN NOT unverified THEN limit_key END,
    next_attempt_at = CASE WHEN send_at > now() THEN send_at ELSE now() + ${lease} END
  FROM due LEFT JOIN paced USING (id) WHERE n.id = due.id
  RETURNING n.id, split_part(n.kind, ' ', 1) AS kind, n.details, n.request_id AS "requestId",
    n.traceparent, n.attempts, n.unsure AS "uncertainAttempts", n.resends,
    due.email AS address, due.name, due.locale, unverified,
    CASE WHEN obsolete THEN 'obsolete' WHEN unverified AND NOT late THEN 'withheld' WHEN send_at > now() THEN 'paced' END
      AS delay`;

const renew = `
  UPDATE notifications SET next_attempt_at = now() + ${lease} WHERE id = ANY ($1::uuid[]) AND status = 'waiting'`;

const record = `
  UPDATE notifications SET
    status = outcome.status,
    attempts = attempts + 1,
    unsure = notifications.unsure + outcome.unsure,
    problem = outcome.problem,
    settled_at = CASE WHEN delay IS NULL THEN clock_timestamp() END,
    next_attempt_at = CASE
      WHEN delay IS NULL THEN next_attempt_at ELSE clock_timestamp() + delay * interval '1 second' END
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::int[], $5::int[]) AS outcome (id, status, problem, unsure, delay)
  WHERE notifications.id = outcome.id AND notifications.status = 'waiting'
  RETURNING notifications.id, settled_at AS "settledAt"`;

export interface Claim {
  /** No other sender can claim them while this sender renews the claim. */
  readonly emails: readonly QueuedEmail[];
  /**
   * The number of other due e-mails, which are obsolete, or now wait for their recipient's rate limit or the
   * verification of its address.
   */
  readonly delayed: number;
}

/** Reads at most `most` due e-mails, and claims those that may be sent now. */
export async function claimEmails({ pool }: Database, most: number, { burst, secondsEach }: RateLimit): Promise<Claim> {
  type Row = QueuedEmail & { readonly delay: 'obsolete' | 'withheld' | 'paced' | null };
  const { rows } = await pool.query<Row>(claim, [most, secondsEach, burst]);
  const withheld = rows.filter(({ delay }) => delay === 'withheld').map(({ id }) => id);
  if (withheld.length > 0) await withholdEmails(pool, withheld);
  const emails = rows.filter(({ delay }) => delay === null);
  return { emails, delayed: rows.length - emails.length };
}

export async function renewClaims({ pool }: Database, ids: readonly string[]): Promise<void> {
  await pool.query(renew, [ids]);
}

/** Records the outcomes and appends the events of finished e-mails, in one transaction. */
export function recordOutcomes(database: Database, tried: readonly AttemptedEmail[]): Promise<void> {
  return database.transaction(async (tx) => {
    const outcomes = [
      tried.map(({ email }) => email.id),
      tried.map(({ status }) => status),
      tried.map(({ problem }) => problem ?? null),
      tried.map(({ uncertain }) => (uncertain === true ? 1 : 0)),
      tried.map(({ delay }) => delay ?? null),
    ];
    const recorded = await sql<{ id: string; settledAt: Date | null }>(tx, record, outcomes, { planEachTime: true });
    const events = tried.flatMap(({ email, status, traceparent }) => {
      const { id, requestId } = email;
      const settledAt = recorded.find((row) => row.id === id)?.settledAt;
      if (!settledAt || !isAboutOrder(email)) return [];
      const { kind, details } = email;
      const { orderId, accountId } = details;
      const outcome = status === 'sent' ? ('done' as const) : ('failed' as const);
      const which = {
        ...('orderVersion' in details && { orderVersion: details.orderVersion }),
        ...('returnId' in details && { returnId: details.returnId }),
      };
      return {
        type: 'notification.sent.v1' as const,
        subject: orderId,
        sequence: 1,
        requestId,
        traceparent,
        data: { orderId, accountId, kind, ...which, outcome, sentAt: settledAt.toISOString() },
      };
    });
    if (events.length > 0) await appendEvents(tx, events);
  });
}
