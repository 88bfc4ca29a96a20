// refund.due.v1: adds the e-mail "we will refund a payment" about money that the order does not need. The e-mail about
// a cancellation names its refund itself.
import type { SelectiveHandler, ShopEvent } from '@shop/shared/events';
import { addNotifications } from './notification.ts';

/** Whether the customer gets an e-mail about the refund. */
export function isNotified({ data }: Pick<ShopEvent<'refund.due.v1'>, 'data'>): boolean {
  return data.receivedAt !== undefined;
}

/** @param wake called after COMMIT, because there is an e-mail to send */
export function handlerOfRefundDue(wake: () => void): SelectiveHandler<'refund.due.v1'> {
  return {
    when: isNotified,
    async take(event, tx) {
      await addNotifications(tx, 'order-refund-due', [event]);
      tx.afterCommit(wake);
    },
  };
}
