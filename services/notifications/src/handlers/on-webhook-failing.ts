// webhook.failing.v1: adds the notice to the owner of the webhook.
import type { Transaction } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';
import { addWebhookNotice } from '../email/webhook-notice.ts';

/** @param wake called after COMMIT, because there is an e-mail to send */
export async function onWebhookFailing(
  event: ShopEvent<'webhook.failing.v1'>,
  tx: Transaction,
  wake: () => void,
): Promise<void> {
  await addWebhookNotice(tx, event);
  tx.afterCommit(wake);
}
