// stock.returned.v1: records that the catalogue added the units of a return to the stock, or failed to.
import { sql } from '@shop/shared/database';
import type { EventHandler } from '@shop/shared/events';
import { appendReturnEvent } from '../returns/return-events.ts';

/** Handles an outcome. An earlier failure that arrives after the success changes nothing. */
export const onStockReturned: EventHandler<'stock.returned.v1'> = async ({ data, requestId: id, traceparent }, tx) => {
  const [updated] = await sql<{ version: number }>(
    tx,
    `UPDATE returns SET stock_returned = $3, stock_returned_at = $4, version = version + 1,
       updated_at = greatest(now(), updated_at)
     WHERE id = $1 AND account_id = $2 AND stock_returned IS NOT NULL AND stock_returned <> 'done'
     RETURNING version`,
    [data.returnId, data.accountId, data.outcome, data.returnedAt],
  );
  if (updated === undefined) return;
  const { orderId, accountId, returnId } = data;
  const changed = { id: returnId, order: { id: orderId, accountId }, version: updated.version };
  await appendReturnEvent(tx, { id, traceparent }, changed, 'return.updated.v1', {});
};
