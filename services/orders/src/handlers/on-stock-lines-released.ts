// stock.lines-released.v1: records that the catalogue released cancelled units of an order, or failed to.
import { sql } from '@shop/shared/database';
import type { EventHandler } from '@shop/shared/events';

/**
 * Only the first failure and the success change the history. Only the history shows the outcome; the order itself stays
 * the same.
 */
export const onStockLinesReleased: EventHandler<'stock.lines-released.v1'> = async ({ data }, tx) => {
  await sql(
    tx,
    `UPDATE order_history SET stock_released = $4, stock_released_at = $5
     WHERE order_id = $1 AND account_id = $2 AND version = $3
       AND cancelled_lines IS NOT NULL AND (stock_released = 'pending' OR stock_released = 'failed' AND $4 = 'done')`,
    [data.orderId, data.accountId, data.orderVersion, data.outcome, data.releasedAt],
  );
};
