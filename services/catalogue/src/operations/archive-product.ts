// DELETE /v1/products/{productId}: archives a product. Orders that have it are not affected.
import { sql } from '@shop/shared/database';
import { appendEvent } from '@shop/shared/events';
import { requireMatch, requireNoneMatch, toEtag, toWeakEtag } from '@shop/shared/http';
import type { Operation } from '../context.ts';
import { shownColumns } from '../product/archived-status.ts';
import { noSuchProduct } from '../product/product.ts';
import { enterChanges } from '../product/product-changes.ts';
import type { WrittenRow } from '../product/product-columns.ts';
import { lockGroups } from '../product/variants.ts';
import { toStaffCause } from '../stock/stock-ledger.ts';

/**
 * 204, also for a product that is already archived, whatever `If-Match` contains; 412 when `If-Match` is stale. The row
 * lock orders an archiving and a concurrent reservation. The reservation checks the status again when it has the lock.
 */
export const archiveProduct: Operation<'archiveProduct'> = async (request, { database, products }) => {
  const { productId } = request.path;
  await database.transaction(async (tx) => {
    await lockGroups(tx, [productId]);
    const [present] = await sql<WrittenRow & { version: number; isArchived: boolean }>(
      tx,
      `SELECT ${shownColumns}, version, archived_status IS NOT NULL AS "isArchived" FROM products WHERE id = $1 FOR UPDATE`,
      [productId],
    );
    if (!present) throw noSuchProduct();
    const tags = [toEtag(present.version), toWeakEtag(present.version)];
    requireNoneMatch(request.headers, ...tags);
    if (present.isArchived) return;
    requireMatch(request.headers, ...tags);
    const [archived] = await sql<{ version: number }>(
      tx,
      `UPDATE products SET archived_status = status, status = 'pending' WHERE id = $1 RETURNING version`,
      [productId],
    );
    const change = { productId, before: present, after: { ...present, isArchived: true } };
    await enterChanges(tx, [change], products.currency, toStaffCause(request));
    await appendEvent(tx, {
      type: 'product.archived.v1',
      subject: productId,
      sequence: archived?.version ?? present.version + 1,
      requestId: request.id,
      traceparent: request.traceparent,
      data: { productId },
    });
  });
  return { status: 204 };
};
