// refund.done.v1: adds the e-mail "we have refunded your money".
import type { Transaction } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';
import { addNotifications } from '../email/notification.ts';

/** @param wake called after COMMIT, because there is an e-mail to send */
export async function onRefundDone(
  event: ShopEvent<'refund.done.v1'>,
  tx: Transaction,
  wake: () => void,
): Promise<void> {
  await addNotifications(tx, 'order-refunded', [event]);
  tx.afterCommit(wake);
}
