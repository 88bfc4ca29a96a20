// Records the request to return units of a locked order, and publishes the event.
import { sql, type Transaction } from '@shop/shared/database';
import { type Fault, Problem } from '@shop/shared/problem';
import { newId } from '@shop/shared/runtime';
import type { components } from '../generated.ts';
import type { Cause } from '../order/change-status.ts';
import type { LockedOrder } from '../order/order.ts';
import { readLines } from '../order/order-lines.ts';
import { type ReturnLine, textFor } from './return.ts';
import { appendReturnEvent } from './return-events.ts';

export type NewReturn = components['schemas']['NewReturn'];

/**
 * Returns the id of the return.
 * @param days after the delivery, in which the owner can request it; undefined for staff
 * @throws Problem 409 when the order has not shipped, its period has ended, or it has fewer units
 */
export async function requestReturn(
  tx: Transaction,
  cause: Cause,
  order: LockedOrder,
  { lines: given, comment }: NewReturn,
  days: number | undefined,
): Promise<string> {
  requireOnce(given);
  if (order.status !== 'shipped' && order.status !== 'delivered') {
    throw new Problem('invalid-transition', `The order is ${order.status}. Only shipped units can be returned.`);
  }
  if (days !== undefined) await requirePeriod(tx, order, days);
  const lines = await toLines(tx, order, given);
  const id = newId();
  const [added] = await sql<{ at: Date }>(
    tx,
    `INSERT INTO returns (id, order_id, account_id, status, lines, comment)
     VALUES ($1, $2, $3, 'requested', $4::json, $5) RETURNING created_at AS at`,
    [id, order.id, order.accountId, JSON.stringify(lines), await textFor(tx, order.accountId, comment)],
  );
  if (added === undefined) throw new Error('an inserted return left no row');
  await appendReturnEvent(tx, cause, { id, order, version: 1 }, 'return.requested.v1', {
    lines,
    changedAt: added.at.toISOString(),
  });
  return id;
}

/** @throws Problem 400 when several lines name the same product */
export function requireOnce(lines: readonly { readonly productId: string }[]): void {
  const errors = lines.flatMap(({ productId }, position): Fault[] =>
    lines.findIndex((line) => line.productId === productId) === position
      ? []
      : [{ pointer: `/lines/${position}/productId`, detail: 'is the product of an earlier line' }],
  );
  if (errors.length > 0) throw new Problem('invalid-request', 'Each product can have one line.', { errors });
}

async function requirePeriod(tx: Transaction, order: LockedOrder, days: number): Promise<void> {
  if (days === 0) {
    throw new Problem('return-period-ended', 'The shop accepts no requests for returns. Nothing was recorded.');
  }
  const [period] = await sql<{ endsAt: Date; hasEnded: boolean }>(
    tx,
    `SELECT at + $3 * interval '1 day' AS "endsAt", at + $3 * interval '1 day' < now() AS "hasEnded"
     FROM order_history WHERE order_id = $1 AND account_id = $2 AND status = 'delivered' ORDER BY version LIMIT 1`,
    [order.id, order.accountId, days],
  );
  if (period?.hasEnded !== true) return;
  const day = period.endsAt.toISOString().slice(0, 10);
  throw new Problem('return-period-ended', `The order could be returned until ${day}. Nothing was recorded.`);
}

/** Returns the lines with the names of the products. */
async function toLines(tx: Transaction, order: LockedOrder, given: NewReturn['lines']): Promise<ReturnLine[]> {
  const shipped = new Map((await readLines(tx, order)).map((line) => [line.productId, line]));
  const taken = await findTaken(tx, order);
  const errors: Fault[] = [];
  const lines = given.map(({ productId, quantity, reason }, position): ReturnLine => {
    const line = shipped.get(productId);
    const remaining = (line?.quantity ?? 0) - (taken.get(productId) ?? 0);
    if (quantity > remaining) {
      const detail = `${quantity} are to be returned, ${remaining} can be`;
      errors.push({ pointer: `/lines/${position}`, detail, productId, requested: quantity, remaining });
    }
    return { productId, name: line?.name ?? '', quantity, reason };
  });
  if (errors.length === 0) return lines;
  const detail = 'The order has fewer units than are to be returned. Nothing was recorded.';
  throw new Problem('units-not-in-order', detail, { errors });
}

/** Returns the units of each product that open returns have, or that came back. */
async function findTaken(tx: Transaction, order: LockedOrder): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ productId: string; units: number }>(
    tx,
    `SELECT line ->> 'productId' AS "productId",
       sum((line ->> CASE status WHEN 'received' THEN 'received' ELSE 'quantity' END)::int)::int AS units
     FROM returns, json_array_elements(lines) AS line
     WHERE order_id = $1 AND account_id = $2 AND status IN ('requested', 'approved', 'received') GROUP BY 1`,
    [order.id, order.accountId],
  );
  return new Map(rows.map(({ productId, units }) => [productId, units]));
}
