// Reads and changes the webhooks of one owner.
import type { Caller } from '@shop/shared/auth';
import { type Queryable, sql, type Transaction } from '@shop/shared/database';
import { Problem } from '@shop/shared/problem';
import type { FeedPosition } from '../feed/feed-cursors.ts';
import { type Webhook, webhookColumns } from './webhook.ts';

/** The largest number of webhooks of an account or a machine. */
const most = 20;

/** The members of a new webhook, which has an encrypted secret. */
export type NewWebhook = Pick<Webhook, 'id' | 'url' | 'types' | 'collapse' | 'secret'>;

/**
 * Adds a webhook that begins after a position of the feed.
 * @throws Problem 409 `webhook-limit` when the caller has 20
 */
export async function addWebhook(
  tx: Transaction,
  caller: Caller,
  { id, url, types, collapse, secret }: NewWebhook,
  { epoch, position }: FeedPosition,
): Promise<Webhook> {
  // Concurrent requests of one owner wait for each other here, so that together they add no more than the limit.
  await sql(tx, "SELECT pg_advisory_xact_lock(hashtextextended('webhooks ' || $1, 0))", [caller.accountId]);
  const [counted] = await sql<{ count: number }>(
    tx,
    'SELECT count(*)::int AS count FROM webhooks WHERE owner_id = $1',
    [caller.accountId],
  );
  if (counted !== undefined && counted.count >= most) {
    const detail = `You have ${most} webhooks, which is the limit. Nothing was added. Delete one first, or change one.`;
    throw new Problem('webhook-limit', detail);
  }
  return one(
    await sql<Webhook>(
      tx,
      `INSERT INTO webhooks (id, owner_id, is_machine, scopes, url, types, collapse, secret, epoch, position, first_position)
       VALUES ($1, $2, $3, $4::text[], $5, $6::text[], $7, $8, $9, $10, $10) RETURNING ${webhookColumns}`,
      [
        ...[id, caller.accountId, caller.isMachine, [...caller.scopes]],
        ...[url, types, collapse, secret, epoch, position],
      ],
    ),
  );
}

/** Returns the webhooks of an owner, or all of them, the oldest first. */
export async function findWebhooks(database: Queryable, ownerId?: string): Promise<Webhook[]> {
  const { rows } = await database.query<Webhook>(
    `SELECT ${webhookColumns} FROM webhooks WHERE owner_id = $1 OR $1 IS NULL ORDER BY id`,
    [ownerId ?? null],
  );
  return rows;
}

/**
 * @param ownerId undefined for the command line
 * @throws Problem 404 when there is no such webhook, or the owner does not have it
 */
export async function findWebhook(database: Queryable, ownerId: string | undefined, id: string): Promise<Webhook> {
  const { rows } = await database.query<Webhook>(
    `SELECT ${webhookColumns} FROM webhooks WHERE (owner_id = $1 OR $1 IS NULL) AND id = $2`,
    [ownerId ?? null, id],
  );
  return one(rows);
}

/**
 * Locks a webhook until the transaction ends.
 * @param ownerId undefined for the command line
 * @throws Problem 404 when there is no such webhook, or the owner does not have it
 */
export async function lockWebhook(tx: Transaction, ownerId: string | undefined, id: string): Promise<Webhook> {
  return one(
    await sql<Webhook>(
      tx,
      `SELECT ${webhookColumns} FROM webhooks WHERE (owner_id = $1 OR $1 IS NULL) AND id = $2 FOR NO KEY UPDATE`,
      [ownerId ?? null, id],
    ),
  );
}

/** What a change sets. */
export type ChangedWebhook = Omit<Webhook, 'version' | 'ownerId' | 'isMachine' | 'createdAt' | 'updatedAt'>;

/** Stores a locked webhook with the next version. */
export async function saveWebhook(tx: Transaction, webhook: ChangedWebhook): Promise<Webhook> {
  return one(
    await sql<Webhook>(
      tx,
      `UPDATE webhooks SET version = version + 1, updated_at = now(), scopes = $2::text[], url = $3, types = $4::text[],
         collapse = $5, status = $6, is_ping_due = $7, next_attempt_at = $8, failures = $9, failing_since = $10,
         noticed_hours = $11, epoch = $12, position = $13, first_position = $14, secret = $15, previous_secret = $16,
         previous_until = $17
       WHERE id = $1 RETURNING ${webhookColumns}`,
      [
        ...[webhook.id, webhook.scopes, webhook.url, webhook.types, webhook.collapse, webhook.status],
        ...[webhook.isPingDue, webhook.nextAttemptAt, webhook.failures, webhook.failingSince, webhook.noticedHours],
        ...[webhook.epoch, webhook.position, webhook.firstPosition],
        ...[webhook.secret, webhook.previousSecret, webhook.previousUntil],
      ],
    ),
  );
}

/** Deletes the webhooks of erased accounts, with their attempts, and the stored responses that name their addresses. */
export async function deleteWebhooksOf(tx: Transaction, ownerIds: readonly string[]): Promise<void> {
  if (ownerIds.length === 0) return;
  await sql(tx, 'DELETE FROM webhooks WHERE owner_id = ANY ($1::uuid[])', [ownerIds]);
  await sql(tx, 'DELETE FROM idempotency_keys WHERE account_id = ANY ($1::text[])', [ownerIds]);
}

function one([webhook]: readonly Webhook[]): Webhook {
  if (webhook === undefined) throw new Problem('not-found', 'You have no such webhook.');
  return webhook;
}
