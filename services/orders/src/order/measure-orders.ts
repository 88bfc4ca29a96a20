// Metrics of orders: placed and rejected orders, changes of state, orders by state, payments and refunds.
import type { Database, Transaction } from '@shop/shared/database';
import type { ProblemCode } from '@shop/shared/problem';
import { beginCounting, instruments, observe, sharedRead } from '@shop/shared/telemetry';
import { finishedStatuses, readFinishedOrders } from './count-orders.ts';
import { type OrderStatus, statuses } from './order-status.ts';

/** Counts an order once its transaction has committed. */
export function countOrder(tx: Transaction, outcome: 'placed' | OrderStatus): void {
  tx.afterCommit(() => instruments.orders.add(1, { 'shop.outcome': outcome }));
}

/** Counts a rejected order by its reason. */
export function countRefusal(reason: ProblemCode): void {
  instruments.orders.add(1, { 'shop.outcome': reason });
}

/** Counts an order that looks like one at a wrong price, once its transaction has committed. */
export function countUnderpriced(tx: Transaction, kind: UnderpricedKind): void {
  tx.afterCommit(() => instruments.underpricedOrders.add(1, { 'shop.kind': kind }));
}

const underpricedKinds = ['free', 'below-usual'] as const;
/** `free`: the order costs nothing. `below-usual`: a line costs less than half of its usual price. */
export type UnderpricedKind = (typeof underpricedKinds)[number];

/** Counts a payment by its outcome, or a refund, once its transaction has committed. */
export function countPayment(tx: Transaction, outcome: PaymentOutcome): void {
  tx.afterCommit(() => instruments.payments.add(1, { 'shop.outcome': outcome }));
}

const paymentOutcomes = ['order-paid', 'amount-differs', 'paid-before', 'cancelled', 'refunded'] as const;
export type PaymentOutcome = (typeof paymentOutcomes)[number];

/** The states of orders that are not finished. */
const openStatuses = ['pending', 'processing', 'shipped'] as const satisfies readonly OrderStatus[];

// The first part reads only the index by status and creation. The second part reads the pending orders.
const openOrders = `
  SELECT status, count(*)::int AS orders, extract(epoch FROM now() - min(created_at))::float8 AS age
  FROM orders WHERE status IN ('pending', 'processing', 'shipped') GROUP BY status
  UNION ALL
  SELECT 'paid', count(*)::int, coalesce(extract(epoch FROM now() - min(p.paid_at)), 0)::float8
  FROM orders o JOIN order_payments p ON p.order_id = o.id AND p.account_id = o.account_id
  WHERE o.status = 'pending' AND p.status = 'paid'`;

const refundsDue = `
  SELECT count(*)::int AS orders, coalesce(extract(epoch FROM now() - min(refund_due_since)), 0)::float8 AS age
  FROM order_payments WHERE refund_due_minor > 0`;

interface Figures {
  readonly orders: number;
  /** Seconds since the oldest one began; 0 when there is none. */
  readonly age: number;
}
const none: Figures = { orders: 0, age: 0 };

/** The reasons for which an order is rejected. */
const refusals: readonly ProblemCode[] = [
  'insufficient-stock',
  'product-not-available',
  'price-changed',
  'hold-limit',
  'discount-not-applicable',
  'not-delivered-there',
];

/**
 * Observes orders by state and refunds that are due, each with their number. For open orders and refunds, it also
 * observes the age of the oldest.
 */
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
  beginCounting(
    instruments.underpricedOrders,
    underpricedKinds.map((kind) => ({ 'shop.kind': kind })),
  );
  observeOpenOrders(pool);
  observeFinishedOrders(pool);
  observeRefunds(pool);
}

type Pool = Pick<Database['pool'], 'query'>;

/** Observes open orders. The metric's state `paid` counts the pending orders that are paid and not yet processed. */
function observeOpenOrders(pool: Pool): void {
  const read = sharedRead(async () => {
    const { rows } = await pool.query<Figures & { readonly status: string }>(openOrders);
    return new Map(rows.map((row) => [row.status, row]));
  });
  const all = [...openStatuses, 'paid'] as const;
  const open = { unit: '{order}', description: 'Orders with which the shop has not finished, by their status.' };
  observe('shop.orders.open', open, async (tell) => {
    const found = await read();
    for (const status of all) tell((found.get(status) ?? none).orders, { 'shop.status': status });
  });
  const age = { unit: 's', description: 'Since when the oldest open order was placed, or paid; 0 when there is none.' };
  observe('shop.orders.age', age, async (tell) => {
    const found = await read();
    for (const status of all) tell((found.get(status) ?? none).age, { 'shop.status': status });
  });
}

function observeFinishedOrders(pool: Pool): void {
  const read = sharedRead(() => readFinishedOrders(pool));
  const finished = {
    unit: '{order}',
    description: 'All orders that were ever delivered or cancelled, by their status.',
  };
  observe('shop.orders.finished', finished, async (tell) => {
    const found = await read();
    for (const status of finishedStatuses) tell(found.get(status) ?? 0, { 'shop.status': status });
  });
}

function observeRefunds(pool: Pool): void {
  const read = sharedRead(async () => (await pool.query<Figures>(refundsDue)).rows[0] ?? none);
  const due = { unit: '{order}', description: 'Orders of which the shop owes money back.' };
  observe('shop.refunds.due', due, async (tell) => tell((await read()).orders));
  const oldest = { unit: 's', description: 'Since when the oldest refund is due; 0 when none is.' };
  observe('shop.refunds.age', oldest, async (tell) => tell((await read()).age));
}
