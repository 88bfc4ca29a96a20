// An order was cancelled: its customer is told.
import type { Transaction } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';
import { addNotifications, dropObsolete } from './notification.ts';

/** @param wake called after COMMIT: there is an e-mail to send */
export async function onOrderCancelled(
  event: ShopEvent<'order.cancelled.v1'>,
  tx: Transaction,
  wake: () => void,
): Promise<void> {
  await dropObsolete(tx, event.data.orderId);
  await addNotifications(tx, 'order-cancelled', [event]);
  tx.afterCommit(wake);
}
