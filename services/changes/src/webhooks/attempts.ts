// The requests to endpoints, as their owners and operators see them.
import type { Queryable } from '@shop/shared/database';
import type { components } from '../generated.ts';

/** A row of `delivery_attempts`. */
export interface AttemptRow {
  readonly webhookId: string;
  readonly kind: components['schemas']['Attempt']['kind'];
  readonly messageId: string;
  readonly startedAt: Date;
  readonly milliseconds: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly answer: string | null;
}

const columns = `webhook_id AS "webhookId", kind, message_id AS "messageId", started_at AS "startedAt",
  duration_ms AS milliseconds, status, error, answer`;

/** Returns the newest attempts of a webhook, the newest first. */
export async function findAttempts(database: Queryable, webhookId: string, limit = 50): Promise<AttemptRow[]> {
  const { rows } = await database.query<AttemptRow>(
    `SELECT ${columns} FROM delivery_attempts WHERE webhook_id = $1 ORDER BY id DESC LIMIT $2`,
    [webhookId, limit],
  );
  return rows;
}

/** Returns all attempts to send a message to the webhooks, the oldest first. */
export async function findAttemptsOf(
  database: Queryable,
  messageId: string,
  webhookIds: readonly string[],
): Promise<AttemptRow[]> {
  const { rows } = await database.query<AttemptRow>(
    `SELECT ${columns} FROM delivery_attempts WHERE message_id = $1 AND webhook_id = ANY ($2::uuid[]) ORDER BY id`,
    [messageId, webhookIds],
  );
  return rows;
}

export function toAttemptView(attempt: AttemptRow): components['schemas']['Attempt'] {
  const { messageId, kind, startedAt, milliseconds, status, error, answer } = attempt;
  return {
    ...{ messageId, kind, startedAt: startedAt.toISOString(), milliseconds },
    ...(status !== null && { status }),
    ...(error !== null && { error }),
    ...(answer !== null && { answer }),
  };
}
