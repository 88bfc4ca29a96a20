// GET /v1/orders/{orderId}: one order, for its owner and for staff that may read all.
import { callerOf } from '@shop/shared/http';
import type { Operation, OrderBook } from './context.ts';
import { noSuchOrder } from './order.ts';

/** The same 404 for an order of another account and for one that never was. */
export const getOrder: Operation<'getOrder', OrderBook> = async (request, { database, orders }) => {
  const caller = callerOf(request);
  const readAll = caller.scopes.has('orders:read-all');
  const { rows } = await database.pool.query<Record<string, string | null>>({
    name: readAll ? 'any-order' : 'own-order',
    text: `SELECT ${orders.columns} FROM orders WHERE id = $1 ${readAll ? '' : 'AND account_id = $2'}`,
    values: readAll ? [request.path.orderId] : [request.path.orderId, caller.accountId],
  });
  const [row] = rows;
  if (row === undefined) throw noSuchOrder();
  return orders.reply(200, row, caller);
};
