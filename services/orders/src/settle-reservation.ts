// POST /internal/reservations/settle: whether an order took a reservation; if none did, none ever will.

import type { Database } from '@shop/shared/database';
import type { Operation } from './context.ts';

interface Reservation {
  readonly reservationId: string;
  readonly accountId: string;
}

/** 200 with `{ state: "exists", orderId }` or `{ state: "absent" }`. Either answer is final. */
export const settleReservation: Operation<'settleReservation'> = async ({ body }, { database }) => {
  const orderId = await settle(database, body);
  return { status: 200, body: orderId === null ? { state: 'absent' } : { state: 'exists', orderId } };
};

/**
 * Decides a reservation that is still open against any order. An order that is about to commit is waited for; one that comes later
 * fails on the row that this leaves behind.
 * @returns the order that has the reservation, or null when none has it and none can get it any more
 */
export async function settle(database: Database, { reservationId, accountId }: Reservation): Promise<string | null> {
  // The update changes nothing, but unlike DO NOTHING it returns the row that was there first.
  const { rows } = await database.pool.query<{ order_id: string | null }>({
    name: 'settle',
    text: `INSERT INTO reservations (id, account_id) VALUES ($1, $2)
           ON CONFLICT (id, account_id) DO UPDATE SET id = excluded.id
           RETURNING order_id`,
    values: [reservationId, accountId],
  });
  const [row] = rows;
  if (row === undefined) throw new Error('a settled reservation left no row');
  return row.order_id;
}
