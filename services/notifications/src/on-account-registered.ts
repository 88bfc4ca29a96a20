// An account was registered: from now on its e-mails have an address.
import type { Transaction } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';
import { keepRecipient } from './recipient.ts';

/** @param wake called after COMMIT: e-mails may have waited for this address */
export async function onAccountRegistered(
  event: ShopEvent<'account.registered.v1'>,
  tx: Transaction,
  wake: () => void,
): Promise<void> {
  await keepRecipient(tx, event);
  tx.afterCommit(wake);
}
