// Lets operators list the e-mails of an order, and send one again.
import type { Database } from '@shop/shared/database';
import { type Environment, readConfig, StartError } from '@shop/shared/runtime';
import { serviceVariables, withDatabase } from '@shop/shared/service';
import { operatorCommand } from '@shop/shared/shop';

export interface QueuedEmail {
  readonly id: string;
  readonly kind: string;
  readonly status: 'waiting' | 'sent' | 'failed' | 'obsolete' | 'withheld';
  /** The address of the recipient. Null while the account is not known. */
  readonly address: string | null;
  readonly createdAt: Date;
  /** The time at which it was sent or given up; null while it waits. */
  readonly settledAt: Date | null;
  readonly problem: string | null;
}

const columns = `
  n.id, n.kind, n.status, coalesce(n.recipient, r.email) AS address, n.created_at AS "createdAt",
  n.settled_at AS "settledAt", n.problem`;

/** Returns the e-mails about an order, oldest first. Of `environment` only DATABASE_URL is read. */
export function listEmails(environment: Environment, orderId: string): Promise<QueuedEmail[]> {
  return inDatabase(environment, 'emails list', async ({ pool }) => {
    const { rows } = await pool.query<QueuedEmail>(
      `SELECT ${columns} FROM notifications n LEFT JOIN recipients r USING (account_id)
       WHERE n.order_id = $1 ORDER BY n.created_at, n.id`,
      [orderId],
    );
    return rows;
  });
}

/**
 * Adds an e-mail to the queue again. An e-mail about an order is sent to the present address of the account.
 * @param environment the variables of notifications, of which DATABASE_URL is read
 * @throws StartError for an unknown or waiting e-mail, one with a token, and one to an address that is not verified
 */
export function resendEmail(environment: Environment, id: string): Promise<QueuedEmail> {
  return inDatabase(environment, 'emails resend', async (database) => {
    const { rows } = await database.pool.query<QueuedEmail>(
      `UPDATE notifications n SET status = 'waiting', settled_at = NULL, attempts = 0, unsure = 0, problem = NULL,
         paced_for = NULL, next_attempt_at = now(), resends = resends + 1
       FROM recipients r
       WHERE n.id = $1 AND r.account_id = n.account_id AND ${canBeResent} RETURNING ${columns}`,
      [id],
    );
    return rows[0] ?? Promise.reject(await refusal(database, id));
  });
}

const hasToken = "n.kind IN ('email-verification', 'email-change-undo', 'password-reset')";
const canBeResent = `n.status <> 'waiting' AND (n.recipient IS NOT NULL OR r.verified) AND NOT ${hasToken}`;

async function refusal({ pool }: Database, id: string): Promise<StartError> {
  const { rows } = await pool.query<{ waits: boolean; hasToken: boolean; isErased: boolean }>(
    `SELECT status = 'waiting' AS waits, ${hasToken} AS "hasToken",
       EXISTS (SELECT FROM erased_accounts e WHERE e.account_id = n.account_id) AS "isErased"
     FROM notifications n WHERE id = $1`,
    [id],
  );
  const [email] = rows;
  const list = operatorCommand('shop', 'emails list ORDER');
  if (email === undefined) return new StartError(`there is no e-mail ${id}: ${list} shows those of an order`);
  if (email.hasToken)
    return new StartError('its token works once, so the holder of the account has to ask for another');
  if (email.waits) return new StartError(`it waits to be sent: ${list} shows its last problem`);
  if (email.isErased) return new StartError('its account is erased');
  const verify = operatorCommand('shop', 'accounts verify-email ADDRESS');
  return new StartError(`its address is not verified: ${verify} verifies it`);
}

function inDatabase<Result>(
  environment: Environment,
  name: string,
  use: (database: Database) => Promise<Result>,
): Promise<Result> {
  const { databaseUrl: url } = readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
  return withDatabase({ url, name }, use);
}
