// The customers: a copy of the data that the accounts service publishes, for staff.
import { sql, type Transaction } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';

/**
 * Stores a customer unless a newer version is stored, because events may arrive out of order. The same version is
 * stored again, because an event of an older release lacks the telephone number.
 */
export async function keepCustomer(
  { data, sequence }: ShopEvent<'account.registered.v1' | 'account.updated.v1'>,
  tx: Transaction,
): Promise<void> {
  const { accountId, name, email, phoneNumber } = data;
  await sql(
    tx,
    `INSERT INTO customers (account_id, name, email, phone_number, sequence)
     SELECT $1, $2, $3, $4, $5 WHERE NOT EXISTS (SELECT FROM erased_accounts WHERE account_id = $1)
     ON CONFLICT (account_id) DO UPDATE
     SET name = excluded.name, email = excluded.email, sequence = excluded.sequence,
       phone_number = CASE WHEN $6 THEN excluded.phone_number ELSE customers.phone_number END
     WHERE customers.sequence <= excluded.sequence`,
    [accountId, name, email, phoneNumber ?? null, sequence, phoneNumber !== undefined],
  );
}
