// PATCH /v1/products/{productId}: applies a merge patch (RFC 7396), stock included.

import { refuseFaults } from '@shop/shared/contract';
import { sql } from '@shop/shared/database';
import { etagOf, mergePatch, requireMatch } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import type { Operation } from './context.ts';
import { noSuchProduct } from './product.ts';
import {
  columnValues,
  type ProductInput,
  productFaults,
  toInput,
  toRow,
  type WrittenRow,
  writtenColumns,
} from './product-input.ts';
import { enterReceived } from './stock-ledger.ts';

interface LockedRow extends WrittenRow {
  readonly reserved: number;
  readonly version: number;
}

/**
 * 200 with the whole product; 412 when `If-Match` is stale; 409 when the stock would be less than the units that orders
 * reserved.
 */
export const updateProduct: Operation<'updateProduct'> = async (request, context) => {
  const { database, products } = context;
  const { productId } = request.path;
  refuseFaults(request.faults, productFaults(request.body, products.currency));
  return database.transaction(async (tx) => {
    const [present] = await sql<LockedRow>(
      tx,
      `SELECT ${writtenColumns.join(', ')}, reserved, version FROM products WHERE id = $1 FOR UPDATE`,
      [productId],
    );
    if (!present) throw noSuchProduct();
    requireMatch(request.headers, etagOf(present.version));
    const merged = mergePatch(toInput(present, products.currency), request.body) as ProductInput;
    const row = toRow(merged, products.currency);
    if (row.stock < present.reserved) {
      throw new Problem('insufficient-stock', 'Orders were promised more than this stock. Nothing was changed.', {
        errors: [{ pointer: '/stock', detail: 'is less than what is promised to orders that have not shipped' }],
      });
    }
    const assignments = writtenColumns.map((column, index) => `${column} = $${index + 2}`).join(', ');
    // Units that were promised beyond the stock are assigned first.
    const stock = `$${writtenColumns.length + 2}::integer`;
    const [updated] = await sql<Record<string, string | null>>(
      tx,
      `UPDATE products SET ${assignments},
         reserved = least(reserved + oversold, ${stock}), oversold = greatest(reserved + oversold - ${stock}, 0)
       WHERE id = $1 RETURNING ${products.columns}`,
      [productId, ...columnValues(row), row.stock],
    );
    await enterReceived(tx, productId, row.stock - present.stock);
    return products.reply(200, Object.values(updated ?? {}));
  });
};
