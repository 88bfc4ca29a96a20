// The transaction of a new order: the claim of the reservation, the order, its lines, its history, its payment, and its
// event.
import { sql, type Transaction } from '@shop/shared/database';
import { appendEvent } from '@shop/shared/events';
import { type OperationRequest, type Result, requireCaller } from '@shop/shared/http';
import { newId } from '@shop/shared/runtime';
import type { OrdersContext } from '../context.ts';
import type { Discount } from '../pricing/pricing.ts';
import { countUse } from '../settings/discount-uses.ts';
import type { TaxId } from './customer.ts';
import { countOrder } from './measure-orders.ts';
import type { OrderView } from './order.ts';
import { type ShownOrder, toItems, toPrices } from './order-prices.ts';
import type { ReservedLine, WantedLine } from './stock-reservation.ts';
import { findTimeShare } from './time-limits.ts';
import { reportUnderpriced } from './underpriced-order.ts';

export interface NewOrder {
  readonly reservationId: string;
  readonly lines: readonly (WantedLine & ReservedLine)[];
  readonly totalMinor: number;
  readonly priced: ShownOrder['priced'];
  /** The discounts of the order whose uses are limited. */
  readonly limitedDiscounts: readonly Discount[];
  /** The tax id because of which the order is free of tax. */
  readonly taxId: TaxId | undefined;
  readonly shippingAddress: Readonly<Record<string, string>> | undefined;
}

/** A discount of the order was used up by other orders after the order was calculated. */
export class UsedUpError extends Error {
  override readonly name = 'UsedUpError';
}

/**
 * Places the order and returns the response. Fails on `reservations_pkey` when the reservation was resolved or used
 * before, because the claim of the reservation commits together with the order.
 * @throws UsedUpError when a discount of the order was used up meanwhile
 */
export async function placeOrder(
  tx: Transaction,
  request: OperationRequest,
  { orders, paymentDueMinutes, log }: OrdersContext,
  order: NewOrder,
): Promise<Result> {
  const caller = requireCaller(request);
  const { accountId } = caller;
  const id = newId();
  const { columns, result } = orders.viewOf(caller);
  const [items, prices] = [toItems(orders, order), toPrices(orders, order)];
  const { paymentDueAt, ...row } = await insertOrder(tx, request, columns, {
    ...order,
    id,
    accountId,
    currency: orders.currency,
    paymentDueMinutes: paymentDueMinutes && Math.ceil(paymentDueMinutes * findTimeShare(caller)),
    shown: { itemsSummary: items, ...prices },
  });
  await appendEvent(tx, {
    type: 'order.created.v1',
    subject: id,
    sequence: 1,
    requestId: request.id,
    traceparent: request.traceparent,
    data: {
      orderId: id,
      accountId,
      reservationId: order.reservationId,
      items,
      ...prices,
      totalCost: Number(orders.money.toJson(order.totalMinor)),
      currency: orders.currency,
      ...(order.shippingAddress && { shippingAddress: order.shippingAddress }),
      ...(paymentDueAt && { paymentDueAt: paymentDueAt.toISOString() }),
    },
  });
  // The last statement, because concurrent orders with the discount wait for the row from here to COMMIT.
  if (!(await countUse(tx, order.limitedDiscounts, accountId))) throw new UsedUpError();
  countOrder(tx, 'placed');
  reportUnderpriced(tx, log, id, order);
  return result(201, row, { Location: `/v1/orders/${id}` });
}

interface InsertedOrder extends NewOrder {
  readonly id: string;
  readonly accountId: string;
  readonly currency: string;
  readonly paymentDueMinutes: number | undefined;
  /** The members of the response that follow from the pricing. */
  readonly shown: object;
}

interface PlacedRow {
  /** The time by which the order has to be paid; null when no payment is needed. */
  readonly paymentDueAt: Date | null;
}

/**
 * Returns the row for the response, and the time by which the order has to be paid. The inserted rows have the names of
 * the tables, so that the usual expressions for columns can be used.
 */
async function insertOrder(
  tx: Transaction,
  request: OperationRequest,
  columns: OrderView['columns'],
  order: InsertedOrder,
): Promise<PlacedRow> {
  const { lines, priced } = order;
  const pricing = priced && { ...priced.pricing, counted: order.limitedDiscounts.map((discount) => discount.id) };
  const [row] = await sql<PlacedRow>(
    tx,
    `WITH claim AS (
       INSERT INTO reservations (id, account_id, order_id) VALUES ($3, $2, $1)
     ), orders AS (
       INSERT INTO orders
         (id, account_id, reservation_id, status, currency, total_minor, shipping_address, pricing, prices, tax_id)
       VALUES ($1, $2, $3, 'pending', $4, $5, $6::json, $13::json, $14::json, $15::jsonb)
       RETURNING *
     ), history AS (
       INSERT INTO order_history (order_id, account_id, version, status, actor, actor_id, request_id, at)
       SELECT id, account_id, version, status, 'customer', account_id, $7, created_at FROM orders
     ), order_lines AS (
       INSERT INTO order_lines
         (order_id, account_id, position, product_id, name, quantity, unit_price_minor, line_total_minor)
       SELECT $1, $2, position, product_id, name, quantity, unit_price_minor, unit_price_minor * quantity
       FROM unnest($8::uuid[], $9::text[], $10::int[], $11::bigint[]) WITH ORDINALITY
         AS line (product_id, name, quantity, unit_price_minor, position)
       RETURNING *
     ), order_payments AS (
       INSERT INTO order_payments (order_id, account_id, status, due_at)
       SELECT id, account_id, 'due', created_at + $12::int * interval '1 minute' FROM orders
       WHERE $12::int IS NOT NULL AND total_minor > 0
       RETURNING *
     )
     SELECT (SELECT due_at FROM order_payments) AS "paymentDueAt", ${columns} FROM orders`,
    [
      order.id,
      order.accountId,
      order.reservationId,
      order.currency,
      order.totalMinor,
      order.shippingAddress === undefined ? null : JSON.stringify(order.shippingAddress),
      request.id,
      lines.map(({ productId }) => productId),
      lines.map(({ name }) => name),
      lines.map(({ quantity }) => quantity),
      lines.map(({ unitPriceMinor }) => unitPriceMinor),
      order.paymentDueMinutes ?? null,
      pricing === undefined ? null : JSON.stringify(pricing),
      priced === undefined ? null : JSON.stringify(order.shown),
      order.taxId === undefined ? null : JSON.stringify(order.taxId),
    ],
  );
  if (row === undefined) throw new Error('an inserted order left no row');
  return row;
}
