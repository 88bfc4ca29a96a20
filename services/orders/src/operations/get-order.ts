// GET /v1/orders/{orderId}: one order, for its owner and for staff that may read all.
import type { Caller } from '@shop/shared/auth';
import { callerOf, type Reply } from '@shop/shared/http';
import type { Operation, OrderStore } from '../context.ts';
import { noSuchOrder } from '../order/order.ts';

/** 404 for an order that does not exist, and the same 404 for an order of another account. */
export const getOrder: Operation<'getOrder', OrderStore> = async (request, context) =>
  findOrder(context, callerOf(request), request.path.orderId);

/**
 * The order as this caller sees it.
 * @throws Problem 404
 */
export async function findOrder({ database, orders }: OrderStore, caller: Caller, orderId: string): Promise<Reply> {
  const readAll = caller.scopes.has('orders:read-all');
  const { by, columns, reply } = orders.viewOf(caller);
  const { rows } = await database.pool.query<Record<string, string | null>>({
    name: `${readAll ? 'any' : 'own'}-order-by-${by}`,
    text: `SELECT ${columns} FROM orders WHERE id = $1 ${readAll ? '' : 'AND account_id = $2'}`,
    values: readAll ? [orderId] : [orderId, caller.accountId],
  });
  const [row] = rows;
  if (row === undefined) throw noSuchOrder();
  return reply(200, row);
}
