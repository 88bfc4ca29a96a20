// The metrics of orders: placed and refused orders, changes of state, the states of the newest orders, payments and
// refunds.
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

/** Counts a payment by what became of it, or a refund, once its transaction has committed. */
export function countPayment(tx: Transaction, outcome: PaymentOutcome): void {
  tx.afterCommit(() => instruments.payments.add(1, { 'shop.outcome': outcome }));
}

const paymentOutcomes = ['order-paid', 'amount-differs', 'paid-before', 'cancelled', 'refunded'] as const;
export type PaymentOutcome = (typeof paymentOutcomes)[number];

// Ids grow with time, so the primary key finds the newest orders among any number of orders.
const newest = `
  SELECT status, count(*)::int AS orders
  FROM (SELECT status FROM orders ORDER BY id DESC LIMIT 10000) AS newest GROUP BY status`;

const refundsDue = `
  SELECT count(*)::int AS orders, coalesce(extract(epoch FROM now() - min(refund_due_since)), 0)::float8 AS age
  FROM order_payments WHERE refund_due_minor > 0`;

/** The reasons for which an order is refused. */
const refusals: readonly ProblemCode[] = ['insufficient-stock', 'product-not-available', 'price-changed', 'hold-limit'];

/** Observes how many of the newest 10,000 orders are in each state, and how many orders have a refund that is due. */
export function observeOrders({ pool }: Database): void {
  const outcomes = ['placed', ...statuses.filter((status) => status !== 'pending'), ...refusals];
  beginCounting(
    instruments.orders,
    outcomes.map((outcome) => ({ 'shop.outcome': outcome })),
  );
  beginCounting(
    instruments.payments,
    paymentOutcomes.map((outcome) => ({ 'shop.outcome': outcome })),
  );
  const options = { unit: '{order}', description: 'The newest orders, at most 10,000, by their status.' };
  observe('shop.orders.newest', options, async (tell) => {
    const { rows } = await pool.query<{ status: OrderStatus; orders: number }>(newest);
    for (const status of statuses) {
      tell(rows.find((row) => row.status === status)?.orders ?? 0, { 'shop.status': status });
    }
  });
  const readRefunds = async (): Promise<{ orders: number; age: number }> => {
    const { rows } = await pool.query<{ orders: number; age: number }>(refundsDue);
    return rows[0] ?? { orders: 0, age: 0 };
  };
  const refunds = { unit: '{order}', description: 'Orders of which the shop owes money back.' };
  observe('shop.refunds.due', refunds, async (tell) => tell((await readRefunds()).orders));
  const oldest = { unit: 's', description: 'Since when the oldest refund is due; 0 when none is.' };
  observe('shop.refunds.age', oldest, async (tell) => tell((await readRefunds()).age));
}
