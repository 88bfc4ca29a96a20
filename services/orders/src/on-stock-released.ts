// stock.released.v1: the catalogue has given the stock of a cancelled order back, or could not.
import { sql } from '@shop/shared/database';
import type { EventHandler } from '@shop/shared/events';

/** Done stays done: an earlier failure that arrives later changes nothing. */
export const onStockReleased: EventHandler<'stock.released.v1'> = async ({ data }, tx) => {
  await sql(
    tx,
    `UPDATE orders SET stock_released = $3, stock_released_at = $4, version = version + 1,
       updated_at = greatest(now(), updated_at)
     WHERE id = $1 AND account_id = $2 AND status = 'cancelled' AND stock_released <> 'done'`,
    [data.orderId, data.accountId, data.outcome, data.releasedAt],
  );
};
