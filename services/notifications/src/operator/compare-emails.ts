// Reads what notifications has learnt about orders and accounts, for the comparison after a failover.
import { type Environment, readConfig } from '@shop/shared/runtime';
import { serviceVariables, withDatabase } from '@shop/shared/service';

/** An order about which there are e-mails. */
export interface EmailedOrder {
  readonly orderId: string;
  readonly accountId: string;
  /** Null when the content of the e-mails is erased. */
  readonly reservationId: string | null;
}

const isLost = 'its order does not exist';

/**
 * The orders with these ids about which there are e-mails, without those that `endEmails` has recorded as lost. Of
 * `environment` only DATABASE_URL is read.
 */
export function readEmailedOrders(environment: Environment, ids: readonly string[]): Promise<EmailedOrder[]> {
  return read<EmailedOrder>(
    environment,
    `SELECT DISTINCT ON (order_id) order_id AS "orderId", account_id AS "accountId",
       details ->> 'reservationId' AS "reservationId"
     FROM notifications WHERE order_id = ANY ($1::uuid[]) AND problem IS DISTINCT FROM '${isLost}'
     ORDER BY order_id, details ->> 'reservationId'`,
    ids,
  );
}

/**
 * Records that an order is lost: its waiting e-mails are not sent, and the list of its e-mails shows the reason. Of
 * `environment` only DATABASE_URL is read.
 */
export async function endEmails(environment: Environment, orderId: string): Promise<void> {
  await read(
    environment,
    `UPDATE notifications SET problem = '${isLost}', settled_at = coalesce(settled_at, now()),
       status = CASE status WHEN 'waiting' THEN 'obsolete' ELSE status END
     WHERE order_id = ANY ($1::uuid[])`,
    [orderId],
  );
}

/** Account → the version of which notifications has a copy. Of `environment` only DATABASE_URL is read. */
export async function readRecipientVersions(
  environment: Environment,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const rows = await read<{ id: string; version: number }>(
    environment,
    'SELECT account_id AS id, sequence::int AS version FROM recipients WHERE account_id = ANY ($1::uuid[])',
    ids,
  );
  return new Map(rows.map(({ id, version }) => [id, version]));
}

function read<Row extends object>(environment: Environment, text: string, ids: readonly string[]): Promise<Row[]> {
  const { databaseUrl: url } = readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
  return withDatabase({ url, name: 'doctor' }, async ({ pool }) => (await pool.query<Row>(text, [ids])).rows);
}
