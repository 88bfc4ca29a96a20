// The metrics of orders: placed and refused orders, changes of state, and the states of the newest orders.
import type { Database, Transaction } from '@shop/shared/database';
import type { ProblemCode } from '@shop/shared/problem';
import { beginCounting, instruments, observe } from '@shop/shared/telemetry';
import { type OrderStatus, statuses } from './order-status.ts';

/** Counts an order once its transaction has committed. */
export function countOrder(tx: Transaction, outcome: 'placed' | OrderStatus): void {
  tx.afterCommit(() => instruments.orders.add(1, { 'shop.outcome': outcome }));
}

/** Counts a refused order by its reason. */
export function countRefusal(reason: ProblemCode): void {
  instruments.orders.add(1, { 'shop.outcome': reason });
}

// Ids grow with time, so the primary key finds the newest orders among any number of orders.
const newest = `
  SELECT status, count(*)::int AS orders
  FROM (SELECT status FROM orders ORDER BY id DESC LIMIT 10000) AS newest GROUP BY status`;

/** The reasons for which an order is refused. */
const refusals: readonly ProblemCode[] = ['insufficient-stock', 'product-not-available', 'price-changed'];

/** Observes how many of the newest 10,000 orders are in each state. */
export function observeOrders({ pool }: Database): void {
  const outcomes = ['placed', ...statuses.filter((status) => status !== 'pending'), ...refusals];
  beginCounting(
    instruments.orders,
    outcomes.map((outcome) => ({ 'shop.outcome': outcome })),
  );
  const options = { unit: '{order}', description: 'The newest orders, at most 10,000, by their status.' };
  observe('shop.orders.newest', options, async (tell) => {
    const { rows } = await pool.query<{ status: OrderStatus; orders: number }>(newest);
    for (const status of statuses) {
      tell(rows.find((row) => row.status === status)?.orders ?? 0, { 'shop.status': status });
    }
  });
}
