// The states of a reservation: it is reserved, confirmed by its order, and then released or shipped. Each change
// happens at most once.
import { sql, type Transaction } from '@shop/shared/database';
import { countStock } from './measure-stock.ts';
import { appendStockEvents, type MovedStock } from './stock-events.ts';
import type { MovementCause } from './stock-ledger.ts';

export type ReservationState = 'held' | 'confirmed' | 'released' | 'shipped';

export interface Reservation {
  readonly state: ReservationState;
  /** The order that confirmed it. */
  readonly orderId: string | null;
  /** Whether units on hand are assigned to it. */
  readonly isAllocated: boolean;
}

/**
 * Locks a reservation until the transaction ends. The counted units of its account are locked after it, and then the
 * products in the order of their ids.
 */
export async function lockReservation(tx: Transaction, id: string): Promise<Reservation | undefined> {
  const [reservation] = await sql<Reservation>(
    tx,
    `SELECT state, order_id AS "orderId", allocated_at IS NOT NULL AS "isAllocated"
     FROM reservations WHERE id = $1 FOR UPDATE`,
    [id],
  );
  return reservation;
}

/** An order and its reservation. */
export interface Taken {
  readonly reservationId: string;
  readonly orderId: string;
}

/**
 * Confirms the reservations of known orders, so that they no longer expire. Returns the orders with reservations that
 * were not confirmed before.
 */
export async function confirmReservations(tx: Transaction, taken: readonly Taken[]): Promise<ReadonlySet<string>> {
  const confirmed = await sql<{ orderId: string }>(
    tx,
    `UPDATE reservations SET state = 'confirmed', order_id = taken.order_id, changed_at = now()
     FROM unnest($1::uuid[], $2::uuid[]) AS taken (id, order_id)
     WHERE reservations.id = taken.id AND state = 'held' RETURNING taken.order_id AS "orderId"`,
    [taken.map(({ reservationId }) => reservationId), taken.map(({ orderId }) => orderId)],
    { planEachTime: true },
  );
  return new Set(confirmed.map(({ orderId }) => orderId));
}

/**
 * Subtracts a reservation from the units that its account reserves. A reservation that is not counted stays unchanged.
 */
export async function endHold(tx: Transaction, id: string): Promise<void> {
  await sql(tx, 'UPDATE reservations SET counted_units = 0 WHERE id = $1 AND counted_units > 0', [id]);
}

/**
 * Releases the stock of a locked reservation. The caller has checked that it is held or confirmed.
 * @param orderId the cancelled order; null when no order exists
 * @returns the time of the release, by the database's clock
 */
export async function releaseStock(
  tx: Transaction,
  id: string,
  orderId: string | null,
  cause: MovementCause,
): Promise<Date> {
  const { actor, actorId, requestId } = cause;
  const releasedAt = await end(tx, id, 'released', orderId);
  const given = await sql<MovedStock & { quantity: number }>(
    tx,
    `WITH given_back AS (
       UPDATE products SET
         reserved = least(reserved + oversold - quantity, stock),
         oversold = greatest(reserved + oversold - quantity - stock, 0),
         allocated = CASE WHEN reservation.allocated_at IS NULL THEN allocated ELSE allocated - quantity END
       FROM reservation_lines AS line JOIN reservations AS reservation ON reservation.id = line.reservation_id
       WHERE line.reservation_id = $1 AND products.id = line.product_id
       RETURNING products.id, products.name, quantity, stock, reserved + oversold AS promised, version,
         low_stock_threshold
     ), booked AS (
       INSERT INTO stock_ledger (product_id, kind, quantity, reservation_id, order_id, stock_after, promised_after,
         actor, actor_id, request_id)
       SELECT id, 'released', quantity, $1, $2, stock, promised, $3, $4, $5 FROM given_back
     )
     SELECT id AS "productId", name, quantity, stock, promised, version, low_stock_threshold AS threshold
     FROM given_back`,
    [id, orderId, actor, actorId ?? null, requestId ?? null],
  );
  countStock(tx, 'released', given);
  const changes = given.map((line) => ({ ...line, before: { promised: line.promised + line.quantity } }));
  await appendStockEvents(tx, changes, cause);
  return releasedAt;
}

/**
 * Ships the stock of a locked reservation. The available units stay the same. An earlier version of the shop could ship
 * an order before its units were on hand. If more units ship than are on hand, the difference is first entered as
 * received.
 */
export async function shipStock(
  tx: Transaction,
  id: string,
  orderId: string,
  { actor, actorId, requestId }: MovementCause,
): Promise<void> {
  await end(tx, id, 'shipped', orderId);
  const moved = await sql<{ kind: 'received' | 'shipped'; quantity: number }>(
    tx,
    `WITH before AS (
       SELECT product.id, quantity, stock, reserved + oversold AS promised,
         CASE WHEN reservation.allocated_at IS NULL THEN 0 ELSE quantity END AS assigned,
         CASE WHEN reservation.allocated_at IS NULL THEN greatest(quantity - (stock - allocated), 0) ELSE 0 END AS found
       FROM reservations AS reservation
       JOIN reservation_lines AS line ON line.reservation_id = reservation.id
       JOIN products AS product ON product.id = line.product_id
       WHERE reservation.id = $1
     ), sent AS (
       UPDATE products SET
         stock = before.stock + found - quantity,
         reserved = least(before.promised - quantity, before.stock + found - quantity),
         oversold = greatest(before.promised - before.stock - found, 0),
         allocated = products.allocated - assigned
       FROM before WHERE products.id = before.id
       RETURNING products.id, quantity, products.stock, reserved + oversold AS promised
     )
     INSERT INTO stock_ledger (product_id, kind, quantity, reservation_id, order_id, stock_after, promised_after, actor,
       actor_id, request_id)
     SELECT id, 'received', found, $1::uuid, $2::uuid, stock + found, promised, 'system', NULL, $5 FROM before
     WHERE found > 0
     UNION ALL
     SELECT id, 'shipped', quantity, $1, $2, stock, promised, $3, $4::uuid, $5 FROM sent
     ORDER BY 2
     RETURNING kind, quantity`,
    [id, orderId, actor, actorId ?? null, requestId ?? null],
  );
  for (const kind of ['received', 'shipped'] as const) {
    countStock(
      tx,
      kind,
      moved.filter((line) => line.kind === kind),
    );
  }
}

/** Releases or ships a reservation and locks its products. Returns the time of the change. */
async function end(tx: Transaction, id: string, state: 'released' | 'shipped', orderId: string | null): Promise<Date> {
  const [ended] = await sql<{ changedAt: Date }>(
    tx,
    `UPDATE reservations SET state = $2, order_id = $3, changed_at = now() WHERE id = $1
     RETURNING changed_at AS "changedAt"`,
    [id, state, orderId],
  );
  if (ended === undefined) throw new Error(`reservation ${id} went while it was locked`);
  await lockProducts(tx, id);
  return ended.changedAt;
}

/** Locks all products of a locked reservation, in the order of their ids. */
export async function lockProducts(tx: Transaction, reservationId: string): Promise<void> {
  await sql(
    tx,
    `SELECT id FROM products WHERE id IN (SELECT product_id FROM reservation_lines WHERE reservation_id = $1)
     ORDER BY id FOR NO KEY UPDATE`,
    [reservationId],
  );
}
