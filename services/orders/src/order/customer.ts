// The customers: a copy of data that the accounts service publishes, for staff, for taxes, and for the state of pending
// e-mails.
import { type Database, sql, type Transaction } from '@shop/shared/database';
import type { EventPayloads, ShopEvent } from '@shop/shared/events';
import { appendOrderUpdates, type EventCause, type UpdatedOrder } from './order-events.ts';

/** A tax id that staff verified. */
export type TaxId = NonNullable<EventPayloads['account.updated.v1']['taxId']>;

/** Returns the tax id of an account; undefined when it has none. */
export async function findTaxId({ pool }: Pick<Database, 'pool'>, accountId: string): Promise<TaxId | undefined> {
  const { rows } = await pool.query<{ taxId: TaxId | null }>({
    name: 'tax-id-of-customer',
    text: 'SELECT tax_id AS "taxId" FROM customers WHERE account_id = $1',
    values: [accountId],
  });
  return rows[0]?.taxId ?? undefined;
}

/**
 * Stores a customer unless a newer version is stored, because events may arrive out of order. The same version is
 * stored again, because an event of an older release lacks the telephone number and the tax id.
 */
export async function upsertCustomer(
  event: ShopEvent<'account.registered.v1' | 'account.updated.v1'>,
  tx: Transaction,
): Promise<void> {
  const { data, sequence } = event;
  const { accountId, name, email, phoneNumber, taxId, emailVerified = null } = data;
  // A subquery in RETURNING reads the row as it was before.
  const [stored] = await sql<{ wasVerified: boolean | null }>(
    tx,
    `INSERT INTO customers (account_id, name, email, phone_number, sequence, email_verified, tax_id)
     SELECT $1, $2, $3, $4, $5, $7, $8::jsonb WHERE NOT EXISTS (SELECT FROM erased_accounts WHERE account_id = $1)
     ON CONFLICT (account_id) DO UPDATE
     SET name = excluded.name, email = excluded.email, sequence = excluded.sequence,
       phone_number = CASE WHEN $6 THEN excluded.phone_number ELSE customers.phone_number END,
       tax_id = CASE WHEN $9 THEN excluded.tax_id ELSE customers.tax_id END,
       email_verified = coalesce(excluded.email_verified, customers.email_verified)
     WHERE customers.sequence <= excluded.sequence
     RETURNING (SELECT email_verified FROM customers WHERE account_id = $1) AS "wasVerified"`,
    [
      accountId,
      name,
      email,
      phoneNumber ?? null,
      sequence,
      phoneNumber !== undefined,
      emailVerified,
      taxId ? JSON.stringify(taxId) : null,
      taxId !== undefined,
    ],
  );
  if (emailVerified === true && stored?.wasVerified === false) {
    await changeWaitingOrders(tx, event, accountId);
  }
}

/**
 * Increments the versions of waiting orders. Their representations no longer show that an e-mail waits for the
 * verification, so they and their histories need new entity tags.
 */
async function changeWaitingOrders(tx: Transaction, cause: EventCause, accountId: string): Promise<void> {
  const updated = await sql<UpdatedOrder>(
    tx,
    `UPDATE orders SET version = version + 1, updated_at = greatest(now(), updated_at)
     WHERE account_id = $1 AND (customer_notified = 'pending' OR EXISTS (
       SELECT FROM order_history AS history
       WHERE history.order_id = orders.id AND history.account_id = $1 AND history.customer_notified = 'pending'))
     RETURNING id, version`,
    [accountId],
  );
  await appendOrderUpdates(tx, cause, accountId, updated);
}
