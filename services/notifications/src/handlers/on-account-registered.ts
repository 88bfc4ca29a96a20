// account.registered.v1: stores the address of a new account.
import type { Transaction } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';
import { upsertRecipient } from '../email/recipient.ts';

/** @param wake called after COMMIT, because e-mails may wait for this address */
export async function onAccountRegistered(
  event: ShopEvent<'account.registered.v1'>,
  tx: Transaction,
  wake: () => void,
): Promise<void> {
  await upsertRecipient(tx, event);
  tx.afterCommit(wake);
}
