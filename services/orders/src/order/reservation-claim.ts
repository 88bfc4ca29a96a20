// A reservation belongs to the first order that claims it, or to none for ever.
import type { Database } from '@shop/shared/database';

interface Reservation {
  readonly reservationId: string;
  readonly accountId: string;
}

/**
 * Decides whether an order has a reservation. If none has, no later order can use the reservation, because its insert
 * conflicts with the row that this statement inserts. The statement waits for an order that is about to commit.
 * @returns the order that has the reservation; null when no order has it or ever will
 */
export async function resolveToOrder(
  database: Database,
  { reservationId, accountId }: Reservation,
): Promise<string | null> {
  // The update changes nothing. Unlike DO NOTHING it returns the existing row.
  const { rows } = await database.pool.query<{ order_id: string | null }>({
    name: 'resolve-reservation',
    text: `INSERT INTO reservations (id, account_id) VALUES ($1, $2)
           ON CONFLICT (id, account_id) DO UPDATE SET id = excluded.id
           RETURNING order_id`,
    values: [reservationId, accountId],
  });
  const [row] = rows;
  if (row === undefined) throw new Error('a resolved reservation left no row');
  return row.order_id;
}
