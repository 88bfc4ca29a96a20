// refund.due.v1: adds the e-mail "we will refund a payment" about money that the order does not need. The e-mail about
// a cancellation names its refund itself.
import type { SelectiveHandler } from '@shop/shared/events';
import { addNotifications } from '../email/notification.ts';

/** @param wake called after COMMIT, because there is an e-mail to send */
export function handlerOfRefundDue(wake: () => void): SelectiveHandler<'refund.due.v1'> {
  return {
    when: ({ data }) => data.receivedAt !== undefined,
    async handle(event, tx) {
      await addNotifications(tx, 'order-refund-due', [event]);
      tx.afterCommit(wake);
    },
  };
}
