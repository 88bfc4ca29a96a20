// POST /v1/products: a new product, with its first stock.

import { refuseFaults } from '@shop/shared/contract';
import { sql } from '@shop/shared/database';
import { idempotent } from '@shop/shared/http';
import { newId } from '@shop/shared/runtime';
import type { Operation } from '../context.ts';
import { enterChanges } from '../product/product-changes.ts';
import { type ProductInput, writtenColumns } from '../product/product-columns.ts';
import { appendProductEvents, toProductEvent } from '../product/product-events.ts';
import { columnValues, productFaults, toRow } from '../product/product-input.ts';
import { refuseIdAsSku, usedSku } from '../product/sku.ts';
import { lockGroups, refuseUsedVariant } from '../product/variants.ts';
import { enterReceived, toStaffCause } from '../stock/stock-ledger.ts';

/** 201 with the product and its address; 409 when the `sku` or the `variant` belongs to another product. */
export const createProduct: Operation<'createProduct'> = async (request, context) => {
  const { currency, staff } = context.products;
  refuseFaults(request.faults, productFaults(request.body, currency));
  const body = request.body as ProductInput;
  const row = toRow(body, currency);
  return idempotent(request, context, async (tx) => {
    const id = newId();
    const locked = await lockGroups(tx, [], [body.variant?.group]);
    await refuseIdAsSku(tx, id, row.external_key);
    await refuseUsedVariant(tx, id, row.variant, locked);
    const parameters = writtenColumns.map((_, index) => `$${index + 2}`).join(', ');
    const [created] = await sql<Record<string, string | null>>(
      tx,
      `INSERT INTO products (id, ${writtenColumns.join(', ')}) VALUES ($1, ${parameters})
       ON CONFLICT (external_key) WHERE external_key IS NOT NULL DO NOTHING RETURNING ${staff.columns}`,
      [id, ...columnValues(row)],
    );
    if (created === undefined) throw await usedSku(tx, row.external_key);
    const { stock: quantity } = row;
    const cause = toStaffCause(request);
    await enterReceived(tx, [{ productId: id, quantity }], cause);
    await enterChanges(tx, [{ productId: id, after: { ...row, isArchived: false } }], currency, cause);
    const events = [toProductEvent('product.created.v1', id, row, quantity > 0, currency)];
    await appendProductEvents(tx, [{ productId: id, version: 1, events }], cause);
    return staff.result(201, Object.values(created), { Location: `/v1/products/${id}` });
  });
};
