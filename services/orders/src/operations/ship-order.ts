// POST /v1/orders/{orderId}/ship: assigns units on hand to the order, and records that it has been shipped.
import type { Database } from '@shop/shared/database';
import { idempotent, keptAnswer } from '@shop/shared/http';
import type { Problem } from '@shop/shared/problem';
import type { Operation } from '../context.ts';
import { advanceOrder } from '../order/advance-order.ts';
import type { Tracking } from '../order/change-status.ts';
import { type LockedOrder, requireVersion, selectOrder } from '../order/order.ts';
import { type OrderLine, selectLines } from '../order/order-lines.ts';
import { mayBecome } from '../order/order-status.ts';
import { allocateStock, type OrderedUnits } from '../order/stock-reservation.ts';

/** 409 `stock-missing` when units are not on hand. Otherwise the same as for every step of staff. */
export const shipOrder: Operation<'shipOrder'> = async (request, context) => {
  const kept = await keptAnswer(request, context);
  if (kept !== undefined) return kept;
  const order = await findShippable(context.database, request.path.orderId);
  if (order !== undefined) {
    requireVersion(request, order);
    const lines = await findReducedLines(context.database, order);
    const problem = await allocateStock(request, context, order.reservationId, lines);
    if (problem !== undefined) return idempotent(request, context, () => Promise.reject(problem));
  }
  return advanceOrder(request, context, 'shipped', trackingOf(request.body));
};

/** Returns undefined when the body has no members. */
export function trackingOf(given: Tracking | undefined): Tracking | undefined {
  return given === undefined || Object.keys(given).length === 0 ? undefined : given;
}

/**
 * Returns all units that the order has when some were cancelled, and otherwise undefined. The event about the cancelled
 * units may reach the catalogue later than the shipment. Units that are cancelled after this read are released by their
 * own event.
 */
export async function findReducedLines(
  { pool }: Database,
  { id, accountId }: LockedOrder,
): Promise<OrderedUnits[] | undefined> {
  const { rows } = await pool.query<OrderLine>(selectLines, [id, accountId]);
  if (rows.every(({ cancelledQuantity }) => cancelledQuantity === 0)) return undefined;
  return rows.filter(({ quantity }) => quantity > 0).map(({ productId, quantity }) => ({ productId, quantity }));
}

/** Assigns units on hand to a reservation. Returns the problem when units are missing. */
export type Allocate = (
  reservationId: string,
  lines: readonly OrderedUnits[] | undefined,
) => Promise<Problem | undefined>;

/** Returns the order without locking it, if it can be shipped at present. */
export async function findShippable({ pool }: Database, id: string): Promise<LockedOrder | undefined> {
  const { rows } = await pool.query<LockedOrder>(`${selectOrder} WHERE id = $1`, [id]);
  return rows.find(({ status }) => mayBecome(status, 'shipped'));
}
