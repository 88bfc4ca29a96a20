// order.created.v1: adds the e-mail "order received".
import type { Transaction } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';
import { addNotifications } from '../email/notification.ts';

/** @param wake called after COMMIT, because there are e-mails to send */
export async function onOrdersCreated(
  events: readonly ShopEvent<'order.created.v1'>[],
  tx: Transaction,
  wake: () => void,
): Promise<void> {
  await addNotifications(tx, 'order-received', events);
  tx.afterCommit(wake);
}
