// An order was placed: its customer is told that it was received.
import type { ShopEvent } from '@shop/shared/events';
import type { Transaction } from 'sequelize';
import { addNotification } from './notification.ts';

/** @param wake called after COMMIT: there is an e-mail to send */
export async function onOrderCreated(
  event: ShopEvent<'order.created.v1'>,
  tx: Transaction,
  wake: () => void,
): Promise<void> {
  await addNotification(tx, 'order-received', event);
  tx.afterCommit(wake);
}
