// The rows of webhooks as the sender reads and writes them. No transaction is open while a request is sent.
import { type Database, type Queryable, sql, type Transaction } from '@shop/shared/database';
import { newId } from '@shop/shared/runtime';
import { type Change, changeColumns } from '../feed/change.ts';
import { epoch } from '../feed/change-reader.ts';
import type { FeedPosition } from '../feed/feed-cursors.ts';
import { type EndpointState, troubleAfter } from './retry.ts';
import type { Attempt } from './send-request.ts';
import { type Webhook, webhookColumns } from './webhook.ts';

/** A webhook of a process that died is free after this time. */
const lease = "interval '60 seconds'";
/** Milliseconds between two renewals of the leases. */
export const renewEvery = 20_000;
/** The number of parked subjects at which the cursor waits. */
export const mostParked = 100;

/** Claims webhooks to which something has to be sent now. Other processes skip them until the lease ends. */
export async function claimWebhooks(database: Queryable, limit: number): Promise<Webhook[]> {
  const { rows } = await database.query<Webhook>(
    `WITH head AS (SELECT ${epoch}, head FROM feed),
     due AS (
       SELECT w.id FROM webhooks w, head
       WHERE w.leased_until <= now() AND w.next_attempt_at <= now()
         AND (w.is_ping_due AND w.status IN ('unverified', 'active', 'suspended')
         OR w.status = 'active' AND (EXISTS (SELECT FROM parked_subjects p
             WHERE p.webhook_id = w.id AND (p.next_attempt_at <= now() OR w.failures >= $2))
           OR (w.position <> head.head OR w.epoch <> head.epoch)
             AND (SELECT count(*) FROM parked_subjects p WHERE p.webhook_id = w.id) < $3))
       ORDER BY w.next_attempt_at LIMIT $1 FOR UPDATE OF w SKIP LOCKED)
     UPDATE webhooks SET leased_until = now() + ${lease} WHERE id IN (SELECT id FROM due)
     RETURNING ${webhookColumns}`,
    [limit, troubleAfter, mostParked],
  );
  return rows;
}

/** Returns whether the owner has changed nothing since the row was read. */
export async function isUnchanged(database: Queryable, { id, version }: Webhook): Promise<boolean> {
  const { rowCount } = await database.query('SELECT FROM webhooks WHERE id = $1 AND version = $2', [id, version]);
  return rowCount === 1;
}

export async function hasActiveWebhooks(database: Queryable): Promise<boolean> {
  const { rows } = await database.query<{ found: boolean }>(
    "SELECT EXISTS (SELECT FROM webhooks WHERE status = 'active') AS found",
  );
  return rows[0]?.found === true;
}

export async function renewLeases(database: Queryable, ids: readonly string[]): Promise<void> {
  await database.query(`UPDATE webhooks SET leased_until = now() + ${lease} WHERE id = ANY ($1::uuid[])`, [ids]);
}

/** Lets other processes have a webhook, after a pause of milliseconds. */
export async function releaseWebhook(database: Queryable, id: string, pause: number): Promise<void> {
  await database.query(
    `UPDATE webhooks SET leased_until = now(),
       next_attempt_at = greatest(next_attempt_at, now() + $2 * interval '1 millisecond') WHERE id = $1`,
    [id, pause],
  );
}

export interface Progress extends FeedPosition {
  readonly state: EndpointState;
  /** The position before which nothing was sent, after a reset. */
  readonly firstPosition?: number;
}

/**
 * Stores what became of a webhook's requests.
 * @returns the webhook as it is then; undefined when its owner changed or deleted it meanwhile. Then nothing is stored, and
 * the changes are sent again
 */
export async function saveProgress(
  tx: Transaction,
  { id, version }: Webhook,
  { epoch: newEpoch, position, state, firstPosition }: Progress,
): Promise<Webhook | undefined> {
  const isSeen = '(status <> $6 OR failing_since IS DISTINCT FROM $7)';
  const [saved] = await sql<Webhook>(
    tx,
    `UPDATE webhooks SET epoch = $3, position = $4, first_position = coalesce($5, first_position), status = $6,
       failing_since = $7, failures = $8, noticed_hours = $9, is_ping_due = $10, next_attempt_at = $11,
       version = version + CASE WHEN ${isSeen} THEN 1 ELSE 0 END,
       updated_at = CASE WHEN ${isSeen} THEN now() ELSE updated_at END
     WHERE id = $1 AND version = $2 RETURNING ${webhookColumns}`,
    [
      ...[id, version, newEpoch, position, firstPosition ?? null],
      ...[state.status, state.failingSince, state.failures, state.noticedHours, state.isPingDue, state.nextAttemptAt],
    ],
  );
  return saved;
}

export interface ParkedSubject {
  readonly source: string;
  readonly subject: string;
  readonly position: number;
  readonly later: readonly number[];
  readonly failures: number;
  readonly failingSince: Date;
  readonly nextAttemptAt: Date;
}

/** Returns all parked subjects of a webhook, the oldest first. */
export async function findParked(database: Queryable, webhookId: string): Promise<ParkedSubject[]> {
  const { rows } = await database.query<ParkedSubject>(
    `SELECT source, subject, position, to_json(later) AS later, failures, failing_since AS "failingSince",
       next_attempt_at AS "nextAttemptAt" FROM parked_subjects WHERE webhook_id = $1 ORDER BY position`,
    [webhookId],
  );
  return rows;
}

/** Parks subjects, or replaces what is stored of them. */
export async function park(tx: Transaction, webhookId: string, subjects: readonly ParkedSubject[]): Promise<void> {
  for (const { source, subject, position, later, failures, failingSince, nextAttemptAt } of subjects) {
    await sql(
      tx,
      `INSERT INTO parked_subjects (webhook_id, source, subject, position, later, failures, failing_since, next_attempt_at)
       VALUES ($1, $2, $3, $4, $5::bigint[], $6, $7, $8)
       ON CONFLICT (webhook_id, source, subject) DO UPDATE SET position = excluded.position, later = excluded.later,
         failures = excluded.failures, failing_since = excluded.failing_since, next_attempt_at = excluded.next_attempt_at`,
      [webhookId, source, subject, position, later, failures, failingSince, nextAttemptAt],
    );
  }
}

export async function unpark(
  tx: Transaction,
  webhookId: string,
  subjects: readonly Pick<ParkedSubject, 'source' | 'subject'>[],
): Promise<void> {
  if (subjects.length === 0) return;
  await sql(
    tx,
    `DELETE FROM parked_subjects WHERE webhook_id = $1
       AND (source, subject) IN (SELECT * FROM unnest($2::text[], $3::uuid[]))`,
    [webhookId, subjects.map(({ source }) => source), subjects.map(({ subject }) => subject)],
  );
}

export async function unparkAll(tx: Transaction, webhookId: string): Promise<void> {
  await sql(tx, 'DELETE FROM parked_subjects WHERE webhook_id = $1', [webhookId]);
}

/** Makes all parked subjects due, as if they had not failed: their endpoint as a whole had failed. */
export async function retryParked(tx: Transaction, webhookId: string): Promise<void> {
  await sql(
    tx,
    'UPDATE parked_subjects SET failures = 0, failing_since = now(), next_attempt_at = now() WHERE webhook_id = $1',
    [webhookId],
  );
}

/** Returns the changes at these positions that the feed still has. */
export async function findChanges(database: Queryable, positions: readonly number[]): Promise<Map<number, Change>> {
  const { rows } = await database.query<Change>(
    `SELECT ${changeColumns} FROM changes WHERE position = ANY ($1::bigint[])`,
    [positions],
  );
  return new Map(rows.map((change) => [change.position, change]));
}

export interface SentMessage {
  readonly kind: 'change' | 'ping' | 'reset';
  readonly id: string;
}

/** Stores an attempt, as its owner sees it. */
export async function addAttempt(
  { pool }: Database,
  webhookId: string,
  { kind, id }: SentMessage,
  { startedAt, milliseconds, status, error, answer }: Attempt,
): Promise<void> {
  // A webhook that was deleted meanwhile has no attempts.
  await pool.query(
    `INSERT INTO delivery_attempts (id, webhook_id, kind, message_id, started_at, duration_ms, status, error, answer)
     SELECT $1, id, $3, $4, $5, $6, $7, $8, $9 FROM webhooks WHERE id = $2`,
    [newId(), webhookId, kind, id, startedAt, milliseconds, status ?? null, error ?? null, answer ?? null],
  );
}
