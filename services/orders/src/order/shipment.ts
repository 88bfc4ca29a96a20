// The data of an order that a shipment needs: its state, its remaining units, and the tracking that staff gave.
import type { Database } from '@shop/shared/database';
import type { Problem } from '@shop/shared/problem';
import type { Tracking } from './change-status.ts';
import { type LockedOrder, selectOrder } from './order.ts';
import { type OrderLine, selectLines } from './order-lines.ts';
import { mayBecome } from './order-status.ts';
import type { OrderedUnits } from './stock-reservation.ts';

/** Returns undefined when the body has no members. */
export function toTracking(given: Tracking | undefined): Tracking | undefined {
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
