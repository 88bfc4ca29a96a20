// order.cancelled.v1: adds the e-mail "order cancelled".
import type { Transaction } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';
import { addNotifications, replaceObsolete } from '../email/notification.ts';

/** @param wake called after COMMIT, because there may be an e-mail to send */
export async function onOrderCancelled(
  event: ShopEvent<'order.cancelled.v1'>,
  tx: Transaction,
  wake: () => void,
): Promise<void> {
  await addNotifications(tx, 'order-cancelled', [event]);
  await replaceObsolete(tx, event.data.orderId);
  tx.afterCommit(wake);
}
