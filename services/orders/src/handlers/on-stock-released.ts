// stock.released.v1: records that the catalogue released the stock of a cancelled order, or failed to.
import { sql } from '@shop/shared/database';
import type { EventHandler } from '@shop/shared/events';
import { appendOrderUpdates, type UpdatedOrder } from '../order/order-events.ts';

/** Handles an outcome. An earlier failure that arrives after the success changes nothing. */
export const onStockReleased: EventHandler<'stock.released.v1'> = async (event, tx) => {
  const { data } = event;
  const updated = await sql<UpdatedOrder>(
    tx,
    `UPDATE orders SET stock_released = $3, stock_released_at = $4, version = version + 1,
       updated_at = greatest(now(), updated_at)
     WHERE id = $1 AND account_id = $2 AND status = 'cancelled' AND stock_released <> 'done'
     RETURNING id, version`,
    [data.orderId, data.accountId, data.outcome, data.releasedAt],
  );
  await appendOrderUpdates(tx, event, data.accountId, updated);
};
