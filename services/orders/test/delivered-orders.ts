// Orders for tests that need many of them, written to the database because placing them would take too long.
import { newId } from '@shop/shared/runtime';
import type { Pool } from 'pg';

export interface DeliveredOrders {
  readonly accountId: string;
  readonly count: number;
  /** The name of the product in each order. */
  readonly name?: string | undefined;
  /** The seconds between two orders; default 1. */
  readonly apart?: number;
}

/** Adds delivered orders of one unit to the database of orders, and returns their ids, oldest first. */
export async function addDeliveredOrders(
  database: Pool,
  { accountId, count, name = 'Cup', apart = 1 }: DeliveredOrders,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId());
  await database.query(
    `WITH placed AS (
       INSERT INTO orders (id, account_id, reservation_id, status, currency, total_minor, created_at)
       SELECT id, $2, gen_random_uuid(), 'delivered', 'EUR', 999,
         timestamptz '2026-01-01' + $4 * n * interval '1 second'
       FROM unnest($1::uuid[]) WITH ORDINALITY AS placed (id, n) RETURNING id
     ), lines AS (
       INSERT INTO order_lines (order_id, account_id, position, product_id, name, quantity, unit_price_minor,
         line_total_minor)
       SELECT id, $2, 1, gen_random_uuid(), $3, 1, 999, 999 FROM placed
     )
     INSERT INTO order_history (order_id, account_id, version, status, actor, actor_id, request_id, at)
     SELECT id, $2, 1, 'pending', 'customer', $2, 'request', now() FROM placed`,
    [ids, accountId, name, apart],
  );
  return ids;
}
