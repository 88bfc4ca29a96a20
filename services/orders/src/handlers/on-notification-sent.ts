// notification.sent.v1: records that the customer was notified of a cancellation, or could not be. Other e-mails are
// ignored.
import { sql, type Transaction } from '@shop/shared/database';
import type { EventPayloads, SelectiveHandler } from '@shop/shared/events';
import { appendOrderUpdates, type UpdatedOrder } from '../order/order-events.ts';

/** Handles an outcome. An earlier failure that arrives after the success changes nothing. */
export const onNotificationSent: SelectiveHandler<'notification.sent.v1'> = {
  when: ({ data }) => data.kind === 'order-cancelled' || data.kind === 'order-lines-cancelled',
  async handle(event, tx) {
    const { data } = event;
    if (data.kind === 'order-lines-cancelled') return recordLinesNotice(tx, data);
    const updated = await sql<UpdatedOrder>(
      tx,
      `UPDATE orders SET customer_notified = $3, customer_notified_at = $4, version = version + 1,
         updated_at = greatest(now(), updated_at)
       WHERE id = $1 AND account_id = $2 AND status = 'cancelled' AND customer_notified <> 'done'
       RETURNING id, version`,
      [data.orderId, data.accountId, data.outcome, data.sentAt],
    );
    await appendOrderUpdates(tx, event, data.accountId, updated);
  },
};

/**
 * Records the outcome. Of several failures only the first is stored, so that the entity tag of a history changes with
 * each outcome only.
 */
async function recordLinesNotice(tx: Transaction, data: EventPayloads['notification.sent.v1']): Promise<void> {
  await sql(
    tx,
    `UPDATE order_history SET customer_notified = $4, customer_notified_at = $5
     WHERE order_id = $1 AND account_id = $2 AND version = $3
       AND cancelled_lines IS NOT NULL AND (customer_notified = 'pending' OR customer_notified = 'failed' AND $4 = 'done')`,
    [data.orderId, data.accountId, data.orderVersion ?? null, data.outcome, data.sentAt],
  );
}
