// POST /internal/reservations: promises stock to an order that is about to be placed. All lines or none.
import { sql } from '@shop/shared/database';
import { type Fault, type OperationRequest, Problem, type ProblemCode, type Reply } from '@shop/shared/http';
import type { Transaction } from 'sequelize';
import type { CatalogueContext } from './context.ts';
import { countStock } from './measure-stock.ts';

interface WantedLine {
  readonly productId: string;
  readonly quantity: number;
}

interface ReservationInput {
  readonly reservationId: string;
  readonly accountId: string;
  /** Each product once. */
  readonly lines: readonly WantedLine[];
}

interface ReservedLine extends WantedLine {
  readonly name: string;
  readonly unitPriceMinor: number;
}

/**
 * 200 with `{ state: "held", lines }`, names and prices as they are kept for the order; a repeat gets the same. 200 with
 * `{ state: "gone" }` for an id that is used up. 422 or 409 with every line that cannot be had.
 */
export async function reserveStock({ body }: OperationRequest, context: CatalogueContext): Promise<Reply> {
  const input = body as ReservationInput;
  return context.database.transaction(async (tx) => {
    // Inserting first: the same reservation in work elsewhere is waited for here, before anything is locked.
    const claimed = await sql(
      tx,
      `INSERT INTO reservations (id, account_id, settle_at) VALUES ($1, $2, now() + $3 * interval '1 second')
       ON CONFLICT (id) DO NOTHING RETURNING id`,
      [input.reservationId, input.accountId, context.reservationSeconds],
    );
    const lines = claimed.length === 1 ? await take(tx, input) : await repeated(tx, input);
    return { status: 200, body: lines === undefined ? { state: 'gone' } : { state: 'held', lines } };
  });
}

async function take(tx: Transaction, { reservationId, lines }: ReservationInput): Promise<ReservedLine[]> {
  const productIds = lines.map(({ productId }) => productId);
  const quantities = lines.map(({ quantity }) => quantity);
  // Everyone locks products in the order of their ids, so that orders of the same products wait instead of deadlocking. What is
  // sold out is not locked at all: those who come too late do not wait for each other.
  const free = await sql<{ id: string }>(
    tx,
    `SELECT id FROM products JOIN unnest($1::uuid[], $2::int[]) AS line (product_id, quantity) ON id = product_id
     WHERE status IN ('active', 'available') AND stock - reserved >= quantity
       OR status = 'backorder' AND reserved + oversold + quantity <= 1000000000
     ORDER BY id FOR NO KEY UPDATE OF products`,
    [productIds, quantities],
  );
  if (free.length < lines.length) {
    const missing = lines.filter(({ productId }) => !free.some(({ id }) => id === productId));
    throw await refusal(tx, lines, missing);
  }
  const taken = await sql<ReservedLine>(
    tx,
    `WITH taken AS (
       UPDATE products SET
         reserved = CASE status WHEN 'backorder' THEN least(reserved + quantity, stock) ELSE reserved + quantity END,
         oversold = CASE status WHEN 'backorder' THEN oversold + greatest(reserved + quantity - stock, 0) ELSE oversold END
       FROM unnest($2::uuid[], $3::int[]) AS line (product_id, quantity)
       WHERE id = product_id
       RETURNING id, quantity, name, price_minor, stock, reserved + oversold AS promised
     ), kept AS (
       INSERT INTO reservation_lines (reservation_id, product_id, quantity, name, unit_price_minor)
       SELECT $1, id, quantity, name, price_minor FROM taken
     ), booked AS (
       INSERT INTO stock_ledger (product_id, kind, quantity, reservation_id, stock_after, promised_after)
       SELECT id, 'reserved', quantity, $1, stock, promised FROM taken
     )
     SELECT id AS "productId", quantity, name, price_minor AS "unitPriceMinor" FROM taken`,
    [reservationId, productIds, quantities],
  );
  countStock(tx, 'reserved', taken);
  return taken;
}

/** Says which lines cannot be had and how many were asked for; how many there are stays inside. */
async function refusal(
  tx: Transaction,
  lines: readonly WantedLine[],
  missing: readonly WantedLine[],
): Promise<Problem> {
  const sold = await sql<{ id: string }>(
    tx,
    "SELECT id FROM products WHERE id = ANY ($1::uuid[]) AND status <> 'pending'",
    [missing.map(({ productId }) => productId)],
  );
  const unsold: Fault[] = [];
  const lacking: Fault[] = [];
  for (const line of missing) {
    const { productId, quantity } = line;
    const at = { pointer: `/lines/${lines.indexOf(line)}`, productId };
    if (sold.some(({ id }) => id === productId)) {
      lacking.push({ ...at, detail: `${quantity} are not in stock`, requested: quantity });
    } else unsold.push({ ...at, detail: 'is no product that can be ordered' });
  }
  const [code, detail, errors]: [ProblemCode, string, Fault[]] =
    unsold.length > 0
      ? ['product-not-available', 'Products of the order cannot be ordered.', unsold]
      : ['insufficient-stock', 'There is not enough stock for the order.', lacking];
  return new Problem(code, `${detail} Nothing was ordered.`, { errors });
}

/** What the first request got, while it still holds for the very same lines; undefined when the id is used up. */
async function repeated(tx: Transaction, input: ReservationInput): Promise<ReservedLine[] | undefined> {
  const lines = await sql<ReservedLine>(
    tx,
    `SELECT product_id AS "productId", quantity, line.name, unit_price_minor AS "unitPriceMinor"
     FROM reservations JOIN reservation_lines AS line ON reservation_id = id
     WHERE id = $1 AND account_id = $2 AND state = 'held'`,
    [input.reservationId, input.accountId],
  );
  const same = input.lines.every(({ productId, quantity }) =>
    lines.some((line) => line.productId === productId && line.quantity === quantity),
  );
  return same && lines.length === input.lines.length ? lines : undefined;
}
