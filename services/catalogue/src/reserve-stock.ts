// POST /internal/reservations: promises stock to an order that is about to be placed. All lines or none.
import { sql } from '@shop/shared/database';
import { type Fault, type OperationRequest, Problem, type ProblemCode, type Reply } from '@shop/shared/http';
import type { Transaction } from 'sequelize';
import type { CatalogueContext } from './context.ts';

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
  // Everyone locks products in the order of their ids, so that orders of the same products wait instead of deadlocking.
  const products = await sql<{ id: string; status: string }>(
    tx,
    'SELECT id, status FROM products WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE',
    [lines.map(({ productId }) => productId)],
  );
  const taken = await sql<ReservedLine>(
    tx,
    `WITH line AS (
       SELECT * FROM unnest($2::uuid[], $3::int[]) AS line (product_id, quantity)
     ), taken AS (
       UPDATE products SET
         reserved = least(reserved + oversold + quantity, stock),
         oversold = greatest(reserved + oversold + quantity - stock, 0)
       FROM line
       WHERE id = product_id AND (
         status IN ('active', 'available') AND stock - reserved >= quantity
         OR status = 'backorder' AND reserved + oversold + quantity <= 1000000000
       )
       RETURNING id, quantity, name, price_minor, stock, reserved + oversold AS promised
     ), kept AS (
       INSERT INTO reservation_lines (reservation_id, product_id, quantity, name, unit_price_minor)
       SELECT $1, id, quantity, name, price_minor FROM taken
     ), booked AS (
       INSERT INTO stock_ledger (product_id, kind, quantity, reservation_id, stock_after, promised_after)
       SELECT id, 'reserved', quantity, $1, stock, promised FROM taken
     )
     SELECT id AS "productId", quantity, name, price_minor AS "unitPriceMinor" FROM taken`,
    [reservationId, lines.map(({ productId }) => productId), lines.map(({ quantity }) => quantity)],
  );
  if (taken.length < lines.length) throw refusal(lines, products, taken);
  return taken;
}

/** Says which lines cannot be had and how many were asked for; how many there are stays inside. */
function refusal(
  lines: readonly WantedLine[],
  products: readonly { id: string; status: string }[],
  taken: readonly ReservedLine[],
): Problem {
  const unsold: Fault[] = [];
  const lacking: Fault[] = [];
  for (const [index, { productId, quantity }] of lines.entries()) {
    const at = { pointer: `/lines/${index}`, productId };
    const product = products.find(({ id }) => id === productId);
    if (product === undefined || product.status === 'pending') {
      unsold.push({ ...at, detail: product === undefined ? 'is no product of the shop' : 'is not for sale yet' });
    } else if (!taken.some((line) => line.productId === productId)) {
      lacking.push({ ...at, detail: `${quantity} are not in stock`, requested: quantity });
    }
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
