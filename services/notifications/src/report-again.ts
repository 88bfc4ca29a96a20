// Reports the e-mail about a cancellation again. An order is cancelled a second time when a failover lost its
// cancellation, and it may have the e-mail already.
import { sql, type Transaction } from '@shop/shared/database';
import { appendEvent, type ShopEvent } from '@shop/shared/events';

const stored = `
  SELECT status, settled_at AS "settledAt", coalesce(details::jsonb -> 'items' = $3::jsonb, true) AS "isSame"
  FROM notifications WHERE order_id = $1 AND kind = $2 AND settled_at IS NOT NULL`;

const replace = 'UPDATE notifications SET details = $3 WHERE order_id = $1 AND kind = $2 AND settled_at IS NULL';

/**
 * An e-mail that waits gets the content of this cancellation, and is reported when it is sent. Otherwise the order has
 * to show the outcome of the e-mail, at a time that is not before its cancellation. When the e-mail was about other
 * units than those that are cancelled now, the customer was not notified of these.
 */
export async function reportAgain(
  event: ShopEvent<'order.cancelled.v1'> | ShopEvent<'order.lines-cancelled.v1'>,
  tx: Transaction,
): Promise<void> {
  const { orderId, accountId, cancelledAt, items } = event.data;
  const version = 'orderVersion' in event.data ? event.data.orderVersion : undefined;
  const kind = version === undefined ? 'order-cancelled' : 'order-lines-cancelled';
  const storedKind = version === undefined ? kind : `${kind} ${version}`;
  await sql(tx, replace, [orderId, storedKind, JSON.stringify(event.data)]);
  const [email] = await sql<{ status: string; settledAt: Date; isSame: boolean }>(tx, stored, [
    orderId,
    storedKind,
    version === undefined ? null : JSON.stringify(items),
  ]);
  if (email === undefined) return;
  await appendEvent(tx, {
    type: 'notification.sent.v1',
    subject: orderId,
    sequence: 1,
    requestId: event.requestId,
    traceparent: event.traceparent,
    data: {
      orderId,
      accountId,
      kind,
      ...(version === undefined ? {} : { orderVersion: version }),
      outcome: email.status === 'sent' && email.isSame ? 'done' : 'failed',
      sentAt: new Date(Math.max(email.settledAt.getTime(), Date.parse(cancelledAt))).toISOString(),
    },
  });
}
