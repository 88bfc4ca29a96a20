// The response with one order, by what its caller may see.
import type { Caller } from '@shop/shared/auth';
import type { Result } from '@shop/shared/http';
import type { OrderStore } from '../context.ts';
import { noSuchOrder } from './order.ts';

/**
 * Returns the order as this caller sees it.
 * @throws Problem 404
 */
export async function findOrder({ database, orders }: OrderStore, caller: Caller, orderId: string): Promise<Result> {
  const readAll = caller.scopes.has('orders:read-all');
  const { by, columns, result } = orders.viewOf(caller);
  const { rows } = await database.pool.query<Record<string, string | null>>({
    name: `${readAll ? 'any' : 'own'}-order-by-${by}`,
    text: `SELECT ${columns} FROM orders WHERE id = $1 ${readAll ? '' : 'AND account_id = $2'}`,
    values: readAll ? [orderId] : [orderId, caller.accountId],
  });
  const [row] = rows;
  if (row === undefined) throw noSuchOrder();
  return result(200, row);
}
