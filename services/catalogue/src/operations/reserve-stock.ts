// POST /internal/reservations: reserves stock for an order that is about to be placed, all lines or none.
import { sql, type Transaction } from '@shop/shared/database';
import { type Fault, Problem, type ProblemCode } from '@shop/shared/problem';
import type { Operation } from '../context.ts';
import type { components } from '../generated.ts';
import { usualPriceSql } from '../product/usual-price.ts';
import { findHoldFaults, type Held, heldColumns, sumOf } from '../stock/hold-limits.ts';
import { countStock } from '../stock/measure-stock.ts';
import {
  factColumns,
  isForSale,
  type LineRow,
  lineFault,
  type ReservedLine,
  reservableUnits,
  toReservedLine,
  type WantedLine,
} from '../stock/order-line.ts';
import { appendStockEvents, type MovedStock } from '../stock/stock-events.ts';
import type { MovementCause } from '../stock/stock-ledger.ts';

type ReservationInput = components['schemas']['NewReservation'];

/**
 * Returns 200 with `{ state: "held", lines }`, with the names and prices for the order; a retry gets the same response.
 * Returns 200 with `{ state: "gone" }` for an id that is used up. Returns 422 or 409 with every line that cannot be
 * reserved, or 409 with every limit of the account that would be exceeded.
 */
export const reserveStock: Operation<'reserveStock'> = async (request, context) => {
  const { body: input } = request;
  return context.database.transaction(async (tx) => {
    const { id: requestId, traceparent } = request;
    const cause = { actor: 'customer', actorId: input.accountId, requestId, traceparent } as const;
    const lines = (await takeStock(tx, input, context.reservationSeconds, cause)) ?? (await repeated(tx, input));
    return { status: 200, body: lines === undefined ? { state: 'gone' } : { state: 'held', lines } };
  });
};

/** An available line. It has a name and a price when all lines were available and were reserved now. */
type FreeLine = (LineRow & MovedStock) | { readonly productId: string; readonly name: null };

/** Without limits, the reservation is not counted for the account. A missing limit means no limit. */
const unlimited = { orders: 2_147_483_647, units: Number.MAX_SAFE_INTEGER };

/**
 * Reserves the stock in one statement. Each part uses the result of the part before:
 * - claimed: waits for a concurrent request with the same reservation, before any lock is taken;
 * - counted: locks the counted units of the account, and adds the reservation if the sum is within the limits;
 * - shared: does the same for the client network, when the request has one;
 * - free: locks the products in the order of their ids, so that orders of the same products wait instead of
 * deadlocking. Products that are sold out are not locked, so that requests for them do not wait for each other;
 * - taken: reserves all lines or none.
 * @returns undefined when the id was used before
 * @throws Problem when a line cannot be reserved, or a limit of the account would be exceeded
 */
async function takeStock(
  tx: Transaction,
  input: ReservationInput,
  seconds: number,
  cause: MovementCause,
): Promise<ReservedLine[] | undefined> {
  const { actor, actorId, requestId } = cause;
  const { reservationId, accountId, lines, holdLimits, networkHold } = input;
  const limits = { ...unlimited, ...holdLimits };
  const isCounted = holdLimits !== undefined || networkHold !== undefined;
  const rows = await sql<(FreeLine | { productId: null }) & { isPermitted: boolean; isCounted: boolean }>(
    tx,
    `WITH claimed AS (
       INSERT INTO reservations (id, account_id, settle_at, counted_units, network)
       VALUES ($1, $2, now() + $3 * interval '1 second', $7, $12)
       ON CONFLICT (id) DO NOTHING RETURNING account_id, counted_units
     ), counted AS (
       INSERT INTO account_holds AS hold (account_id, orders, units)
       SELECT account_id, 1, counted_units FROM claimed WHERE counted_units BETWEEN 1 AND $9::bigint
       ON CONFLICT (account_id) DO UPDATE SET orders = hold.orders + 1, units = hold.units + excluded.units
       WHERE hold.orders < $8 AND hold.units + excluded.units <= $9
       RETURNING account_id
     ), shared AS (
       INSERT INTO network_holds AS hold (network, units)
       SELECT $12, counted_units FROM claimed JOIN counted USING (account_id)
       WHERE $12::text IS NOT NULL AND counted_units <= $13::bigint
       ON CONFLICT (network) DO UPDATE SET units = hold.units + excluded.units
       WHERE hold.units + excluded.units <= $13
       RETURNING network
     ), permitted AS (
       SELECT account_id FROM counted WHERE $12::text IS NULL OR EXISTS (SELECT FROM shared)
       UNION ALL SELECT account_id FROM claimed WHERE counted_units = 0
     ), free AS (
       SELECT id, quantity FROM products
       JOIN unnest($4::uuid[], $5::int[]) AS line (product_id, quantity) ON id = product_id
       WHERE EXISTS (SELECT FROM permitted) AND ${isForSale} AND ${reservableUnits} >= quantity
       ORDER BY id FOR NO KEY UPDATE OF products
     ), taken AS (
       UPDATE products SET
         reserved = CASE status WHEN 'backorder' THEN least(reserved + quantity, stock) ELSE reserved + quantity END,
         oversold = CASE status
           WHEN 'backorder' THEN oversold + greatest(reserved + quantity - stock, 0) ELSE oversold END
       FROM free WHERE products.id = free.id AND (SELECT count(*) FROM free) = cardinality($4::uuid[])
       RETURNING products.id, quantity, name, price_minor, stock, reserved + oversold AS promised, version,
         low_stock_threshold, ${factColumns}
     ), kept AS (
       INSERT INTO reservation_lines (reservation_id, product_id, quantity, name, unit_price_minor)
       SELECT $1, id, quantity, name, price_minor FROM taken
     ), booked AS (
       INSERT INTO stock_ledger (product_id, kind, quantity, reservation_id, stock_after, promised_after, actor,
         actor_id, request_id)
       SELECT id, 'reserved', quantity, $1, stock, promised, $10, $11, $6 FROM taken
     )
     SELECT free.id AS "productId", taken.quantity, taken.name, taken.price_minor AS "unitPriceMinor",
       ${usualPriceSql('taken.id', 'taken.price_minor')} AS "usualPriceMinor",
       taken.brand, taken.category, taken."taxCategory", taken."weightGrams", taken.shipped,
       taken."group",
       taken.stock, taken.promised, taken.version, taken.low_stock_threshold AS threshold,
       EXISTS (SELECT FROM permitted) AS "isPermitted", EXISTS (SELECT FROM counted) AS "isCounted"
     FROM claimed LEFT JOIN free ON true LEFT JOIN taken ON taken.id = free.id`,
    [
      reservationId,
      accountId,
      seconds,
      lines.map(({ productId }) => productId),
      lines.map(({ quantity }) => quantity),
      requestId ?? null,
      isCounted ? sumOf(lines) : 0,
      limits.orders,
      limits.units,
      actor,
      actorId ?? null,
      networkHold?.network ?? null,
      networkHold?.units ?? null,
    ],
  );
  if (rows.length === 0) return undefined;
  if (rows.some((row) => !row.isPermitted)) throw await holdRefusal(tx, input, rows[0]?.isCounted === true);
  const free = rows.filter((line) => line.productId !== null);
  const taken = free.filter((line) => line.name !== null);
  if (taken.length < lines.length) {
    const missing = lines.filter(({ productId }) => !free.some((line) => line.productId === productId));
    throw await refusal(tx, lines, missing);
  }
  countStock(tx, 'reserved', taken);
  const changes = taken.map((line) => ({ ...line, before: { promised: line.promised - line.quantity } }));
  await appendStockEvents(tx, changes, cause);
  return taken.map(toReservedLine);
}

/** @param isCounted whether the reservation is within the limits of the account, and only its network has too much */
async function holdRefusal(
  tx: Transaction,
  { holdLimits, ...input }: ReservationInput,
  isCounted: boolean,
): Promise<Problem> {
  const [held] = await sql<Held>(tx, `SELECT ${heldColumns('$1', '$2')}`, [
    input.accountId,
    input.networkHold?.network ?? null,
  ]);
  if (held === undefined) throw new Error('a SELECT without FROM has one row');
  const errors = findHoldFaults(held, isCounted || holdLimits === undefined ? input : { ...input, holdLimits });
  const detail = 'The account holds too much in orders that are not processed yet. Nothing was reserved.';
  return new Problem('hold-limit', detail, { errors });
}

/**
 * Returns every line that cannot be reserved: products that are not for sale, and missing units with the number of
 * available ones.
 */
async function refusal(
  tx: Transaction,
  lines: readonly WantedLine[],
  missing: readonly WantedLine[],
): Promise<Problem> {
  const sold = await sql<{ id: string; reservable: number }>(
    tx,
    `SELECT id, ${reservableUnits} AS reservable FROM products WHERE id = ANY ($1::uuid[]) AND ${isForSale}`,
    [missing.map(({ productId }) => productId)],
  );
  const errors = missing.map((line): Fault => {
    const product = sold.find(({ id }) => id === line.productId);
    // Units may have been released since the line was rejected.
    const units = product && Math.min(product.reservable, line.quantity - 1);
    return lineFault(lines.indexOf(line), line, units);
  });
  const isLacking = errors.some(({ requested }) => requested !== undefined);
  const [code, detail]: [ProblemCode, string] = isLacking
    ? ['insufficient-stock', 'There is not enough stock for the order. Nothing was ordered.']
    : ['product-not-available', 'Not every product of the order is for sale. Nothing was ordered.'];
  return new Problem(code, detail, { errors });
}

/**
 * Returns the response to the first request while the units are reserved and the lines are equal; only the facts
 * beside name and price are the present ones. Returns undefined when the id is used up.
 */
async function repeated(tx: Transaction, input: ReservationInput): Promise<ReservedLine[] | undefined> {
  const lines = await sql<LineRow>(
    tx,
    `SELECT product_id AS "productId", quantity, line.name, unit_price_minor AS "unitPriceMinor",
       ${usualPriceSql('product_id', 'unit_price_minor')} AS "usualPriceMinor", ${factColumns}
     FROM reservations AS reservation JOIN reservation_lines AS line ON reservation_id = reservation.id
     JOIN products ON products.id = product_id
     WHERE reservation.id = $1 AND account_id = $2 AND state = 'held'`,
    [input.reservationId, input.accountId],
  );
  const same = input.lines.every(({ productId, quantity }) =>
    lines.some((line) => line.productId === productId && line.quantity === quantity),
  );
  return same && lines.length === input.lines.length ? lines.map(toReservedLine) : undefined;
}
