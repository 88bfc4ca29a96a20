// PATCH /v1/products/{productId}: applies a merge patch (RFC 7396), stock included.

import { refuseFaults } from '@shop/shared/contract';
import { sql } from '@shop/shared/database';
import { requireMatch, toEtag, toWeakEtag } from '@shop/shared/http';
import { mergePatch } from '@shop/shared/json';
import type { Operation } from '../context.ts';
import { assignments, shownColumns } from '../product/archived-status.ts';
import { noSuchProduct } from '../product/product.ts';
import { enterChanges } from '../product/product-changes.ts';
import { type ProductInput, type WrittenRow, writtenColumns } from '../product/product-columns.ts';
import { appendProductEvents, changesProduct, toProductEvent } from '../product/product-events.ts';
import { columnValues, productFaults, refuseSurplusAttributes, toInput, toRow } from '../product/product-input.ts';
import { refuseIdAsSku, refuseUsedSku } from '../product/sku.ts';
import { lockGroups, refuseIncompleteVariant, refuseUsedVariant } from '../product/variants.ts';
import { applyStockChange } from '../stock/stock-change.ts';
import { toStockChange, toStockEvents } from '../stock/stock-events.ts';
import { enterReceived, toStaffCause } from '../stock/stock-ledger.ts';

interface LockedRow extends WrittenRow {
  readonly reserved: number;
  /** Units of orders that have not shipped, whether on hand or not. */
  readonly promised: number;
  readonly version: number;
  readonly isArchived: boolean;
}

/**
 * 200 with the whole product, which is restored when it was archived and `archived` is false; 412 when `If-Match` is
 * stale; 409 when the `sku` or the `variant` belongs to another product, or when the stock is not the expected one or
 * would be less than the units that orders reserved.
 */
export const updateProduct: Operation<'updateProduct'> = async (request, context) => {
  const {
    database,
    products: { currency, staff },
  } = context;
  const { productId } = request.path;
  refuseFaults(request.faults, productFaults(request.body, currency));
  return database
    .transaction(async (tx) => {
      const { variant, status } = request.body;
      const isLeadChosen = variant !== undefined || status !== undefined || request.body.archived !== undefined;
      const locked = isLeadChosen ? await lockGroups(tx, [productId], [variant?.group]) : [];
      const [present] = await sql<LockedRow>(
        tx,
        `SELECT ${shownColumns}, reserved, reserved + oversold AS promised, version,
           archived_status IS NOT NULL AS "isArchived"
         FROM products WHERE id = $1 FOR UPDATE`,
        [productId],
      );
      if (!present) throw noSuchProduct();
      requireMatch(request.headers, toEtag(present.version), toWeakEtag(present.version));
      const { stock: change, archived, ...patch } = request.body;
      const staysArchived = present.isArchived && archived !== false;
      const merged = mergePatch(toInput(present, currency), patch) as ProductInput;
      refuseSurplusAttributes(merged);
      refuseIncompleteVariant(merged);
      const changed = change === undefined ? undefined : applyStockChange(present, change);
      const row = { ...toRow(merged, currency), stock: changed?.stock ?? present.stock };
      if (row.external_key !== present.external_key) await refuseIdAsSku(tx, productId, row.external_key);
      if (row.variant !== present.variant) await refuseUsedVariant(tx, productId, row.variant, locked);
      const set = assignments((column) => `$${writtenColumns.indexOf(column) + 2}`, `${staysArchived}`);
      // New units are first assigned to orders that were promised beyond the stock.
      const stock = `$${writtenColumns.length + 2}::integer`;
      const [updated] = await sql<Record<string, string | null>>(
        tx,
        `UPDATE products SET ${set},
         reserved = least(reserved + oversold, ${stock}), oversold = greatest(reserved + oversold - ${stock}, 0)
       WHERE id = $1 RETURNING ${staff.columns}`,
        [productId, ...columnValues(row), row.stock],
      );
      const columns = Object.values(updated ?? {});
      const version = staff.versionOf(columns);
      const cause = toStaffCause(request);
      if (changed !== undefined) await enterReceived(tx, [{ productId, ...changed.entry }], cause);
      const after = { ...row, isArchived: staysArchived };
      const reason = changed?.entry.reason;
      await enterChanges(tx, [{ productId, before: present, after, reason }], currency, cause);
      const { promised } = present;
      const isUpdated = staysArchived !== present.isArchived || changesProduct(present, row);
      const shown = staysArchived ? { ...row, status: 'pending' as const } : row;
      const events = [
        ...(isUpdated ? [toProductEvent('product.updated.v1', productId, shown, row.stock > promised, currency)] : []),
        ...toStockEvents(toStockChange(productId, version, present, row)),
      ];
      await appendProductEvents(tx, [{ productId, version, events }], cause);
      return staff.result(200, columns);
    })
    .catch((error) => refuseUsedSku(error, database, request.body.sku));
};
