// POST /v1/products: a new product, with its first stock.

import { refuseFaults } from '@shop/shared/contract';
import { sql } from '@shop/shared/database';
import { idempotent } from '@shop/shared/http';
import { newId } from '@shop/shared/runtime';
import type { Operation } from './context.ts';
import { columnValues, type ProductInput, productFaults, toRow, writtenColumns } from './product-input.ts';
import { enterReceived, staffOf } from './stock-ledger.ts';

/** 201 with the product and its address. */
export const createProduct: Operation<'createProduct'> = async (request, context) => {
  const { products } = context;
  refuseFaults(request.faults, productFaults(request.body, products.currency));
  const row = toRow(request.body as ProductInput, products.currency);
  return idempotent(request, context, async (tx) => {
    const id = newId();
    const parameters = writtenColumns.map((_, index) => `$${index + 2}`).join(', ');
    const [created] = await sql<Record<string, string | null>>(
      tx,
      `INSERT INTO products (id, ${writtenColumns.join(', ')}) VALUES ($1, ${parameters})
       RETURNING ${products.columns}`,
      [id, ...columnValues(row)],
    );
    const { stock: quantity } = row;
    await enterReceived(tx, [{ productId: id, quantity }], staffOf(request));
    return products.reply(201, Object.values(created ?? {}), { Location: `/v1/products/${id}` });
  });
};
