// Recomputes the stock from its ledger, and compares the ledger with itself, with the products and with the
// reservations. Also compares the units that accounts reserve with their reservations.
import { withClient } from '@shop/shared/database';
import { type Environment, readConfig } from '@shop/shared/runtime';
import { serviceVariables } from '@shop/shared/service';
import type pg from 'pg';

export interface StockFault {
  readonly detail: string;
  readonly productId?: string;
  readonly name?: string;
  readonly reservationId?: string;
  readonly accountId?: string;
  /** The first wrong movement. */
  readonly movement?: {
    readonly id: number;
    readonly kind: string;
    readonly quantity: number;
    readonly at: string;
    readonly reservationId: string | null;
    readonly orderId: string | null;
  };
}

export interface StockReport {
  readonly products: number;
  readonly movements: number;
  readonly reservations: number;
  /** The faults of movements, the earliest first, then of products, reservations and accounts; at most 100 of each. */
  readonly faults: readonly StockFault[];
}

const effects = `
  CASE kind WHEN 'received' THEN quantity WHEN 'shipped' THEN -quantity ELSE 0 END AS on_hand,
  CASE kind WHEN 'reserved' THEN quantity WHEN 'received' THEN 0 ELSE -quantity END AS promised`;

// Finds the first movement of each product at which the ledger's figures differ from the sum of all movements so far.
const wrongMovements = `
  WITH running AS (
    SELECT movement.*, sum(on_hand) OVER line AS stock, sum(promised) OVER line AS promised_sum
    FROM (SELECT *, ${effects} FROM stock_ledger) AS movement
    WINDOW line AS (PARTITION BY product_id ORDER BY id)
  ), first AS (
    SELECT DISTINCT ON (product_id) * FROM running
    WHERE stock <> stock_after OR promised_sum <> promised_after OR stock < 0 OR promised_sum < 0
    ORDER BY product_id, id
  )
  SELECT product_id AS "productId", name,
    format('after this movement %s are on hand and %s promised, but the ledger says %s and %s',
      first.stock, promised_sum, stock_after, promised_after) AS detail,
    json_build_object('id', first.id, 'kind', kind, 'quantity', quantity, 'at', first.created_at,
      'reservationId', reservation_id, 'orderId', order_id) AS movement
  FROM first LEFT JOIN products ON products.id = product_id
  ORDER BY first.id LIMIT 100`;

const wrongProducts = `
  WITH book AS (
    SELECT product_id, sum(on_hand) AS stock, sum(promised) AS promised
    FROM (SELECT product_id, ${effects} FROM stock_ledger) AS movement GROUP BY product_id
  )
  SELECT id AS "productId", name,
    format('%s are on hand and %s promised, but the movements add up to %s and %s',
      products.stock, reserved + oversold, coalesce(book.stock, 0), coalesce(book.promised, 0)) AS detail
  FROM products LEFT JOIN book ON product_id = id
  WHERE products.stock <> coalesce(book.stock, 0) OR reserved + oversold <> coalesce(book.promised, 0)
  ORDER BY id LIMIT 100`;

// The movements are grouped at once, because no index finds all movements of one reservation.
const wrongReservations = `
  WITH book AS (
    SELECT reservation_id, product_id, string_agg(kind || ' ' || quantity, ', ' ORDER BY id) AS kinds,
      string_agg(kind || ' ' || quantity, ', ' ORDER BY id) FILTER (WHERE remaining IS NULL) AS whole,
      sum(quantity) FILTER (WHERE remaining IS NOT NULL) AS parts, min(remaining) AS remaining
    FROM stock_ledger WHERE kind <> 'received' GROUP BY reservation_id, product_id
  )
  SELECT reservation.id AS "reservationId", line.product_id AS "productId",
    format('the reservation of %s is %s, but its movements are %s',
      line.quantity, state, coalesce(book.kinds, 'none')) AS detail
  FROM reservations AS reservation JOIN reservation_lines AS line ON line.reservation_id = reservation.id
  LEFT JOIN book ON book.reservation_id = line.reservation_id AND book.product_id = line.product_id
  WHERE book.whole IS DISTINCT FROM 'reserved ' || line.quantity + coalesce(parts, 0) ||
      CASE WHEN state IN ('released', 'shipped') THEN ', ' || state || ' ' || line.quantity ELSE '' END
    OR book.remaining <> line.quantity
  ORDER BY reservation.id LIMIT 100`;

const wrongAllocations = `
  WITH assigned AS (
    SELECT product_id, sum(quantity) AS units
    FROM reservations AS reservation JOIN reservation_lines AS line ON line.reservation_id = reservation.id
    WHERE allocated_at IS NOT NULL AND state IN ('held', 'confirmed') GROUP BY product_id
  )
  SELECT id AS "productId", name,
    format('%s units are assigned to orders that are about to ship, but their reservations add up to %s',
      allocated, coalesce(units, 0)) AS detail
  FROM products LEFT JOIN assigned ON product_id = id
  WHERE allocated <> coalesce(units, 0)
  ORDER BY id LIMIT 100`;

// Finds accounts with reserved units that differ from the sum of their counted reservations, and counted reservations
// that are not counted with all their units.
const wrongHolds = `
  WITH counted AS (
    SELECT account_id, count(*) AS orders, sum(counted_units) AS units
    FROM reservations WHERE counted_units > 0 GROUP BY account_id
  )
  SELECT account_id AS "accountId",
    format('%s orders and %s units are held, but the reservations add up to %s and %s', coalesce(hold.orders, 0),
      coalesce(hold.units, 0), coalesce(counted.orders, 0), coalesce(counted.units, 0)) AS detail
  FROM account_holds AS hold FULL JOIN counted USING (account_id)
  WHERE (coalesce(hold.orders, 0), coalesce(hold.units, 0))
    <> (coalesce(counted.orders, 0), coalesce(counted.units, 0))
  ORDER BY account_id LIMIT 100`;

const wrongCountedUnits = `
  SELECT reservation.id AS "reservationId",
    format('the reservation has %s units and is counted with %s', coalesce(sum(quantity), 0), counted_units) AS detail
  FROM reservations AS reservation LEFT JOIN reservation_lines AS line ON line.reservation_id = reservation.id
  WHERE counted_units > 0
  GROUP BY reservation.id HAVING coalesce(sum(quantity), 0) <> counted_units
  ORDER BY reservation.id LIMIT 100`;

// Finds absolute figures that staff wrote without the expected figure, soon after units were shipped. They may have
// been counted before the shipment. A later count with the expected figure corrects them.
const hiddenMovements = `
  SELECT change.product_id AS "productId", products.name,
    format('%s was written over %s without an expected figure, %s after a shipment of %s: count the stock again',
      counted, stock_after - change.quantity, date_trunc('second', change.created_at - shipment.created_at),
      shipment.quantity) AS detail,
    json_build_object('id', change.id, 'kind', change.kind, 'quantity', change.quantity, 'at', change.created_at,
      'reservationId', NULL, 'orderId', NULL) AS movement
  FROM stock_ledger AS change JOIN products ON products.id = change.product_id
  CROSS JOIN LATERAL (
    SELECT quantity, created_at FROM stock_ledger AS earlier
    WHERE earlier.product_id = change.product_id AND earlier.id < change.id AND kind = 'shipped'
      AND earlier.created_at > change.created_at - interval '1 hour'
    ORDER BY earlier.id DESC LIMIT 1
  ) AS shipment
  WHERE actor = 'staff' AND counted IS NOT NULL AND expected IS NULL
    AND NOT EXISTS (
      SELECT FROM stock_ledger AS later
      WHERE later.product_id = change.product_id AND later.id > change.id AND later.expected IS NOT NULL
    )
  ORDER BY change.id LIMIT 100`;

// Finds stock that was moved for a reservation without a line of that product, and would never be released. A line is
// removed when all its units were released in parts.
const movementsOfNothing = `
  WITH released AS (
    SELECT reservation_id, product_id FROM stock_ledger WHERE kind <> 'received' GROUP BY reservation_id, product_id
    HAVING sum(CASE kind WHEN 'reserved' THEN quantity ELSE -quantity END) = 0 AND min(remaining) = 0
      AND bool_and(kind = 'reserved' OR remaining IS NOT NULL)
  )
  SELECT movement.product_id AS "productId", reservation_id AS "reservationId",
    format('%s %s for a reservation that has no line of it', kind, movement.quantity) AS detail
  FROM stock_ledger AS movement LEFT JOIN reservation_lines AS line USING (reservation_id, product_id)
  WHERE kind <> 'received' AND line.reservation_id IS NULL AND NOT EXISTS (
    SELECT FROM released
    WHERE released.reservation_id = movement.reservation_id AND released.product_id = movement.product_id)
  ORDER BY movement.id LIMIT 100`;

const counts = `
  SELECT (SELECT count(*) FROM products)::int AS products, (SELECT count(*) FROM stock_ledger)::int AS movements,
    (SELECT count(*) FROM reservations)::int AS reservations`;

/**
 * Compares the stock of one moment. The shop can continue to sell meanwhile. Of `environment` only DATABASE_URL is
 * read.
 */
export async function verifyStock(environment: Environment): Promise<StockReport> {
  const { databaseUrl: url } = readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
  return withClient({ url, name: 'verify stock' }, readStockReport);
}

/** Compares the stock as `verifyStock` does, over a connection of the caller. */
export async function readStockReport(client: pg.Client): Promise<StockReport> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  try {
    const { rows } = await client.query<Omit<StockReport, 'faults'>>(counts);
    const faults: StockFault[] = [];
    for (const query of [
      wrongMovements,
      wrongProducts,
      wrongReservations,
      movementsOfNothing,
      wrongAllocations,
      hiddenMovements,
      wrongHolds,
      wrongCountedUnits,
    ]) {
      faults.push(...(await client.query<StockFault>(query)).rows);
    }
    return { ...(rows[0] ?? { products: 0, movements: 0, reservations: 0 }), faults };
  } finally {
    await client.query('ROLLBACK');
  }
}
