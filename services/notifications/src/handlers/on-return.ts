// return.requested.v1, return.approved.v1, return.refused.v1 and return.received.v1: add the e-mail about the step.
import type { EventHandler } from '@shop/shared/events';
import { addNotifications, type Causes, type ReturnKind } from '../email/notification.ts';

/** @param wake called after COMMIT, because there is an e-mail to send */
export function handlerOfReturn<K extends ReturnKind>(kind: K, wake: () => void): EventHandler<Causes[K]> {
  return async (event, tx) => {
    await addNotifications(tx, kind, [event]);
    tx.afterCommit(wake);
  };
}
