// notification.sent.v1: records that the customer was notified of a cancellation, or could not be. Other e-mails are
// ignored.
import { sql } from '@shop/shared/database';
import type { SelectiveHandler } from '@shop/shared/events';

/** An earlier failure that arrives after the success changes nothing. */
export const onNotificationSent: SelectiveHandler<'notification.sent.v1'> = {
  when: ({ data }) => data.kind === 'order-cancelled',
  async take({ data }, tx) {
    await sql(
      tx,
      `UPDATE orders SET customer_notified = $3, customer_notified_at = $4, version = version + 1,
         updated_at = greatest(now(), updated_at)
       WHERE id = $1 AND account_id = $2 AND status = 'cancelled' AND customer_notified <> 'done'`,
      [data.orderId, data.accountId, data.outcome, data.sentAt],
    );
  },
};
