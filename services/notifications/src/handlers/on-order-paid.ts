// order.paid.v1: adds the e-mail "we have received your payment".
import type { Transaction } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';
import { addNotifications } from '../email/notification.ts';

/** @param wake called after COMMIT, because there is an e-mail to send */
export async function onOrderPaid(event: ShopEvent<'order.paid.v1'>, tx: Transaction, wake: () => void): Promise<void> {
  await addNotifications(tx, 'order-paid', [event]);
  tx.afterCommit(wake);
}
