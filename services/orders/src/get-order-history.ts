// GET /v1/orders/{orderId}/history: every transition that the order has made.
import type { Caller } from '@shop/shared/auth';
import { callerOf, etagOf } from '@shop/shared/http';
import type { Operation, OrderStore } from './context.ts';
import type { components } from './generated.ts';
import { noSuchOrder } from './order.ts';

export type Transition = components['schemas']['OrderHistory']['items'][number];

interface HistoryRow {
  readonly version: number;
  readonly status: Transition['status'];
  readonly at: Date;
  readonly actor: Transition['by'];
}

export interface FoundHistory {
  /** Version of the order. */
  readonly version: number;
  readonly items: readonly Transition[];
}

/** Oldest first. The same 404 as for the order itself. */
export const getOrderHistory: Operation<'getOrderHistory', OrderStore> = async (request, context) => {
  const { version, items } = await findHistory(context, callerOf(request), request.path.orderId);
  return { status: 200, etag: etagOf(version), body: { items } };
};

/**
 * The transitions of an order that this caller may see, oldest first.
 * @throws Problem 404
 */
export async function findHistory({ database }: OrderStore, caller: Caller, orderId: string): Promise<FoundHistory> {
  const readAll = caller.scopes.has('orders:read-all');
  const { rows } = await database.pool.query<HistoryRow>({
    name: readAll ? 'any-history' : 'own-history',
    text: `SELECT orders.version, history.status, history.at, history.actor
           FROM orders JOIN order_history AS history
             ON history.order_id = orders.id AND history.account_id = orders.account_id
           WHERE orders.id = $1 ${readAll ? '' : 'AND orders.account_id = $2'}
           ORDER BY history.version`,
    values: readAll ? [orderId] : [orderId, caller.accountId],
  });
  const [first] = rows;
  if (first === undefined) throw noSuchOrder();
  const items = rows.map(({ status, at, actor }) => ({ status, at: at.toISOString(), by: actor }));
  return { version: first.version, items };
}
