// GET /v1/orders/{orderId}/history: every transition that the order has made.
import { callerOf, etagOf } from '@shop/shared/http';
import type { Operation, OrderBook } from './context.ts';
import type { components } from './generated.ts';
import { noSuchOrder } from './order.ts';

type Transition = components['schemas']['OrderHistory']['items'][number];

interface HistoryRow {
  readonly version: number;
  readonly status: Transition['status'];
  readonly at: Date;
  readonly actor: Transition['by'];
}

/** Oldest first. The same 404 as for the order itself. */
export const getOrderHistory: Operation<'getOrderHistory', OrderBook> = async (request, { database }) => {
  const caller = callerOf(request);
  const readAll = caller.scopes.has('orders:read-all');
  const { rows } = await database.pool.query<HistoryRow>({
    name: readAll ? 'any-history' : 'own-history',
    text: `SELECT orders.version, history.status, history.at, history.actor
           FROM orders JOIN order_history AS history
             ON history.order_id = orders.id AND history.account_id = orders.account_id
           WHERE orders.id = $1 ${readAll ? '' : 'AND orders.account_id = $2'}
           ORDER BY history.version`,
    values: readAll ? [request.path.orderId] : [request.path.orderId, caller.accountId],
  });
  const [first] = rows;
  if (first === undefined) throw noSuchOrder();
  return {
    status: 200,
    etag: etagOf(first.version),
    body: { items: rows.map(({ status, at, actor }) => ({ status, at: at.toISOString(), by: actor })) },
  };
};
