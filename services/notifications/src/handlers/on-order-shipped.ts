// order.shipped.v1: adds the e-mail "order shipped".
import type { Transaction } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';
import { addNotifications } from '../email/notification.ts';

/** @param wake called after COMMIT, because there is an e-mail to send */
export async function onOrderShipped(
  event: ShopEvent<'order.shipped.v1'>,
  tx: Transaction,
  wake: () => void,
): Promise<void> {
  await addNotifications(tx, 'order-shipped', [event]);
  tx.afterCommit(wake);
}
