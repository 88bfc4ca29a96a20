// An account changed: its e-mails go to the new address.
import type { Transaction } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';
import { keepRecipient } from './recipient.ts';

/** @param wake called after COMMIT: e-mails may have waited for this address */
export async function onAccountUpdated(
  event: ShopEvent<'account.updated.v1'>,
  tx: Transaction,
  wake: () => void,
): Promise<void> {
  await keepRecipient(tx, event);
  tx.afterCommit(wake);
}
