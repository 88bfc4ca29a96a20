// order.lines-cancelled.v1: adds the e-mail "a part of your order is cancelled".
import type { Transaction } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';
import { addNotifications } from '../email/notification.ts';

/** @param wake called after COMMIT, because there is an e-mail to send */
export async function onOrderLinesCancelled(
  event: ShopEvent<'order.lines-cancelled.v1'>,
  tx: Transaction,
  wake: () => void,
): Promise<void> {
  await addNotifications(tx, 'order-lines-cancelled', [event]);
  tx.afterCommit(wake);
}
