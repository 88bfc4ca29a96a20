// What has been checked and is not read again in each round: the state in which it was checked, and a comparison with
// its state of now. So the checks of a round take the same time after many hours.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { ofOrder } from '../../../services/orders/src/order/order-columns.ts';

/** The data and the e-mails of a shop. */
export interface Observed {
  /** Reads all schemas. */
  readonly admin: pg.Pool;
  readonly mailFolder: string;
}

/** The orders and accounts that were checked, each with a digest of its state. */
export const checkedTable = 'CREATE TABLE harness.checked (id uuid PRIMARY KEY, state text NOT NULL)';

/** @param id the column with the id of an order or an account */
export const isUnchecked = (id: string): string => `NOT EXISTS (SELECT FROM harness.checked c WHERE c.id = ${id})`;

const joined = (value: string, from: string): string => `(SELECT string_agg(${value}, ' ' ORDER BY ${value}) ${from})`;

/** Everything that the checker reads of an order. */
const orderState = `concat_ws('; ', orders.status, orders.total_minor, orders.stock_released, orders.customer_notified,
  ${joined("concat_ws(' ', product_id, quantity, cancelled_quantity, returned_quantity)", `FROM order_lines AS line WHERE ${ofOrder('line')}`)},
  ${joined("concat_ws(' ', status, version)", `FROM order_history AS entry WHERE ${ofOrder('entry')}`)},
  ${joined("concat_ws(' ', kind, reference, amount_minor)", `FROM payment_ledger AS movement WHERE ${ofOrder('movement')}`)},
  ${joined("concat_ws(' ', id, status, refund_minor, stock_returned)", `FROM returns WHERE ${ofOrder('returns')}`)},
  ${joined("concat_ws(' ', number, body)", `FROM invoices WHERE ${ofOrder('invoices')}`)},
  ${joined("concat_ws(' ', kind, status)", 'FROM notifications.notifications n WHERE n.order_id = orders.id')},
  ${joined(
    "concat_ws(' ', kind, quantity, remaining)",
    'FROM catalogue.stock_ledger g WHERE g.reservation_id = orders.reservation_id',
  )},
  ${joined("concat_ws(' ', id, type)", 'FROM outbox e WHERE e.subject = orders.id::text')})`;

/** The id and the state of each order and account that meets the condition on its id. */
const states = (condition: (id: string) => string): string => `
  SELECT orders.id, md5(${orderState}) AS state FROM orders WHERE ${condition('orders.id')}
  UNION ALL SELECT a.id, md5(email) FROM accounts.accounts a WHERE ${condition('a.id')}`;

/** Keeps the state of everything that is not kept yet, and deletes the e-mails, which have been counted. */
export async function keepStates({ admin, mailFolder }: Observed): Promise<void> {
  await admin.query(`INSERT INTO harness.checked ${states(isUnchecked)}`);
  for (const file of await readdir(mailFolder)) await rm(join(mailFolder, file), { force: true });
}

/** Finds everything that is no longer in the state in which it was checked. */
export async function changedStates(admin: pg.Pool): Promise<string[]> {
  const { rows } = await admin.query<{ id: string }>(`
    SELECT checked.id FROM harness.checked LEFT JOIN (${states(() => 'true')}) AS now USING (id)
    WHERE now.state IS DISTINCT FROM checked.state`);
  return rows.map(({ id }) => `order or account ${id} has changed since it was checked`);
}

/** Finds e-mails about orders that had been checked before. Call it before the next `keepStates` deletes them. */
export async function lateMails({ admin, mailFolder }: Observed): Promise<string[]> {
  const mentioned = (await readdir(mailFolder)).map((file) => file.split('.')[0] ?? '');
  const statement = 'SELECT id FROM harness.checked WHERE id::text = ANY ($1)';
  const { rows } = await admin.query<{ id: string }>(statement, [mentioned]);
  return rows.map(({ id }) => `an e-mail about order ${id} was sent after it was checked`);
}
