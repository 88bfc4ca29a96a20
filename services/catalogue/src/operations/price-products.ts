// POST /internal/prices: what the lines of an order would be reserved with. Nothing is reserved.
import type { Operation } from '../context.ts';
import type { components } from '../generated.ts';
import { usualPriceSql } from '../product/usual-price.ts';
import { findHoldFaults, type Held, heldColumns } from '../stock/hold-limits.ts';
import {
  factColumns,
  isForSale,
  type LineRow,
  lineFault,
  reservableUnits,
  toReservedLine,
  type WantedLine,
} from '../stock/order-line.ts';

type PricedLine = components['schemas']['PricedLine'];

/**
 * Line by line from the primary key, so that the plan of a small table stays good for a large one. The subquery hides
 * the number of lines from the planner. Otherwise PostgreSQL plans each execution, which costs more than the execution.
 */
const readLines = {
  name: 'price-products',
  text: `SELECT product.*, ${heldColumns('$2', '$3')} FROM unnest((SELECT $1::uuid[])) WITH ORDINALITY AS line (product_id, position)
    LEFT JOIN LATERAL (
      SELECT id AS "productId", name, price_minor AS "unitPriceMinor",
        ${usualPriceSql('products.id', 'price_minor')} AS "usualPriceMinor", ${factColumns}, ${reservableUnits} AS reservable
      FROM products WHERE id = line.product_id AND ${isForSale} OFFSET 0
    ) AS product ON true
    ORDER BY position`,
};

type ProductRow = Held & ((Omit<LineRow, 'quantity'> & { readonly reservable: number }) | { readonly productId: null });

/**
 * 200 with all lines in their order, each with the facts of its product, and the fault if it cannot be reserved; and
 * with every limit of the account that the reservation would exceed.
 */
export const priceProducts: Operation<'priceProducts'> = async ({ body }, { database }) => {
  const { account, lines: wanted } = body;
  const { rows } = await database.pool.query<ProductRow>({
    ...readLines,
    values: [
      wanted.map(({ productId }) => productId),
      account?.accountId ?? null,
      account?.networkHold?.network ?? null,
    ],
  });
  const lines = rows.flatMap((row, index) => pricedLine(row, index, wanted[index]));
  const [held] = rows;
  if (account === undefined || held === undefined) return { status: 200, body: { lines } };
  return { status: 200, body: { lines, holdFaults: findHoldFaults(held, { ...account, lines: wanted }) } };
};

function pricedLine(row: ProductRow, index: number, line: WantedLine | undefined): PricedLine[] {
  if (line === undefined) return [];
  const { productId, quantity } = line;
  if (row.productId === null) return [{ productId, quantity, fault: lineFault(index, line, undefined) }];
  const priced = toReservedLine({ ...row, quantity });
  return [row.reservable < quantity ? { ...priced, fault: lineFault(index, line, row.reservable) } : priced];
}
