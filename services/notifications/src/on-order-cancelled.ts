// order.cancelled.v1: adds the e-mail "order cancelled".
import { sql, type Transaction } from '@shop/shared/database';
import { appendEvent, type ShopEvent } from '@shop/shared/events';
import { addNotifications, replaceObsolete } from './notification.ts';

/** @param wake called after COMMIT, because there may be an e-mail to send */
export async function onOrderCancelled(
  event: ShopEvent<'order.cancelled.v1'>,
  tx: Transaction,
  wake: () => void,
): Promise<void> {
  if ((await addNotifications(tx, 'order-cancelled', [event])) === 0) await reportAgain(event, tx);
  await replaceObsolete(tx, event.data.orderId);
  tx.afterCommit(wake);
}

/**
 * An order is cancelled a second time when a failover lost its cancellation. Its e-mail may have been sent already, and
 * the order has to show that, at a time that is not before its cancellation.
 */
async function reportAgain(
  { data, requestId, traceparent }: ShopEvent<'order.cancelled.v1'>,
  tx: Transaction,
): Promise<void> {
  const { orderId, accountId } = data;
  const [email] = await sql<{ status: string; settledAt: Date }>(
    tx,
    `SELECT status, settled_at AS "settledAt" FROM notifications
     WHERE order_id = $1 AND kind = 'order-cancelled' AND settled_at IS NOT NULL`,
    [orderId],
  );
  if (email === undefined) return;
  await appendEvent(tx, {
    type: 'notification.sent.v1',
    subject: orderId,
    sequence: 1,
    requestId,
    traceparent,
    data: {
      orderId,
      accountId,
      kind: 'order-cancelled',
      outcome: email.status === 'sent' ? 'done' : 'failed',
      sentAt: new Date(Math.max(email.settledAt.getTime(), Date.parse(data.cancelledAt))).toISOString(),
    },
  });
}
