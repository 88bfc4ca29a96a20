// Cancels units of the lines of a locked order, which continues with the remaining units, and publishes the event.
import { sql, type Transaction } from '@shop/shared/database';
import { appendEvent } from '@shop/shared/events';
import { type Fault, Problem } from '@shop/shared/problem';
import type { Cause, ChangedOrder } from './change-status.ts';
import type { LockedOrder, Orders } from './order.ts';
import { hasUnits, type OrderLine, readLines, toItem, toUnits } from './order-lines.ts';
import { findPayment, type OrderPayment, oweRefund, refundFor, waivePayment } from './order-payment.ts';
import { toItems, toPrices, toStoredPrices } from './order-prices.ts';
import { totalsOfOrder } from './order-totals.ts';
import { recordCancellation, requireCancellable } from './record-cancellation.ts';

/** Units of a product in the request. The request may contain a product more than once. */
interface GivenLine {
  readonly productId: string;
  readonly quantity: number;
}

export interface LineCancellation {
  readonly actor: 'customer' | 'staff';
  readonly reason: string | undefined;
  readonly lines: readonly GivenLine[];
}

/**
 * Cancels the whole order when the request contains all its units. A cancelled order stays unchanged.
 * @throws Problem 409 once the order has shipped, and for units that the order does not have
 */
export async function cancelLines(
  tx: Transaction,
  cause: Cause,
  orders: Orders,
  order: LockedOrder,
  { actor, reason, lines }: LineCancellation,
): Promise<void> {
  if (order.status === 'cancelled') return;
  requireCancellable(order);
  const present = await readLines(tx, order);
  const units = addUp(lines);
  requireUnits(lines, units, present);
  const reduced = present.map((line) => {
    const cancelled = units.get(line.productId) ?? 0;
    const { quantity, cancelledQuantity } = line;
    return { ...line, quantity: quantity - cancelled, cancelledQuantity: cancelledQuantity + cancelled };
  });
  if (!reduced.some(hasUnits)) return recordCancellation(tx, cause, order, { actor, reason });

  const { totals, priced } = totalsOfOrder(order, reduced);
  const { totalMinor } = totals;
  const prices = toStoredPrices(orders, { lines: reduced, priced });
  const { version, changedAt } = await reduceLines(tx, cause, order, { actor, reason, units, totalMinor, prices });
  const payment = await findPayment(tx, order);
  const refund = refundFor(order, payment, order.totalMinor - totalMinor);
  await appendEvent(tx, {
    type: 'order.lines-cancelled.v1',
    subject: order.id,
    sequence: version,
    requestId: cause.id,
    traceparent: cause.traceparent,
    data: {
      orderId: order.id,
      accountId: order.accountId,
      reservationId: order.reservationId,
      orderVersion: version,
      items: present.flatMap((line) => {
        const quantity = units.get(line.productId);
        return quantity === undefined ? [] : [{ ...toItem(line), quantity }];
      }),
      remaining: toItems(orders, { lines: reduced.map(toUnits), priced }).filter(hasUnits),
      ...toPrices(orders, { priced }),
      totalCost: Number(orders.money.toJson(totalMinor)),
      currency: orders.currency,
      reason: reason ?? null,
      cancelledAt: changedAt.toISOString(),
      cancelledBy: actor,
      ...(refund && { refund }),
    },
  });
  if (payment !== undefined) await adjustPayment(tx, cause, order, payment, totalMinor);
}

/**
 * Makes the price of the cancelled units due as a refund when the order is paid. Otherwise, the new total is due, and
 * no payment when the total is zero.
 */
async function adjustPayment(
  tx: Transaction,
  cause: Cause,
  order: LockedOrder,
  payment: OrderPayment,
  totalMinor: number,
): Promise<void> {
  const amountMinor = order.totalMinor - totalMinor;
  if (payment.paidAt === null) {
    if (totalMinor === 0) await waivePayment(tx, order);
  } else if (amountMinor > 0) {
    await oweRefund(tx, cause, order, { amountMinor, cause: 'lines-cancelled' });
  }
}

/** Adds up the units of each product. */
function addUp(lines: readonly GivenLine[]): ReadonlyMap<string, number> {
  const units = new Map<string, number>();
  for (const { productId, quantity } of lines) units.set(productId, (units.get(productId) ?? 0) + quantity);
  return units;
}

/** Returns the lines of each product that the order contains with fewer units, or does not contain. */
function requireUnits(
  lines: readonly GivenLine[],
  units: ReadonlyMap<string, number>,
  present: readonly OrderLine[],
): void {
  const errors = lines.flatMap(({ productId }, position): Fault[] => {
    const requested = units.get(productId) ?? 0;
    const remaining = present.find((line) => line.productId === productId)?.quantity ?? 0;
    if (requested <= remaining) return [];
    const detail = `${requested} are to be cancelled, the order has ${remaining}`;
    return [{ pointer: `/lines/${position}`, detail, productId, requested, remaining }];
  });
  if (errors.length === 0) return;
  throw new Problem(
    'units-not-in-order',
    'The order has fewer units than are to be cancelled. Nothing was cancelled.',
    {
      errors,
    },
  );
}

interface Reduction extends Omit<LineCancellation, 'lines'> {
  readonly units: ReadonlyMap<string, number>;
  /** The total of the remaining units. */
  readonly totalMinor: number;
  /** What responses show of the remaining units; undefined for an order without pricing. */
  readonly prices: object | undefined;
}

/** Updates lines, total and history in one statement. The caller has checked that the lines contain these units. */
async function reduceLines(
  tx: Transaction,
  cause: Cause,
  order: LockedOrder,
  { actor, reason, units, totalMinor, prices }: Reduction,
): Promise<ChangedOrder> {
  const [changed] = await sql<ChangedOrder>(
    tx,
    `WITH reduced AS (
       UPDATE order_lines AS line SET cancelled_quantity = cancelled_quantity + given.quantity
       FROM unnest($4::uuid[], $5::int[]) AS given (product_id, quantity)
       WHERE order_id = $1 AND account_id = $2 AND line.product_id = given.product_id
       RETURNING position, line.product_id, name, given.quantity
     ), changed AS (
       UPDATE orders SET
         version = version + 1,
         updated_at = greatest(now(), updated_at),
         total_minor = $10,
         prices = $11::json
       WHERE id = $1 AND account_id = $2 AND version = $3
       RETURNING id, account_id, version, status, updated_at
     ), history AS (
       INSERT INTO order_history (order_id, account_id, version, status, actor, actor_id, request_id, at, reason,
         stock_released, customer_notified, cancelled_lines)
       SELECT id, account_id, version, status, $6, $7::uuid, $8, updated_at, $9, 'pending', 'pending',
         (SELECT json_agg(json_build_object('productId', product_id, 'name', name, 'quantity', quantity)
            ORDER BY position) FROM reduced)
       FROM changed
     )
     SELECT version, updated_at AS "changedAt" FROM changed`,
    [
      order.id,
      order.accountId,
      order.version,
      [...units.keys()],
      [...units.values()],
      actor,
      cause.caller?.accountId ?? null,
      cause.id,
      reason ?? null,
      totalMinor,
      prices === undefined ? null : JSON.stringify(prices),
    ],
  );
  if (changed === undefined) throw new Error(`order ${order.id} changed while it was locked`);
  return changed;
}
