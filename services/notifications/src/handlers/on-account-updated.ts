// account.updated.v1: stores the new address, and adds notices about changed credentials.
import type { Transaction } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';
import { addErasureNotices, addNotice, endTokenEmails, releaseSlots } from '../email/notification.ts';
import type { RateLimit } from '../email/rate-limit.ts';
import { upsertRecipient } from '../email/recipient.ts';
import { releaseWithheld } from '../email/withheld-emails.ts';

/** @param wake called after COMMIT, because there may be e-mails to send */
export async function onAccountUpdated(
  event: ShopEvent<'account.updated.v1'>,
  tx: Transaction,
  rateLimit: RateLimit,
  wake: () => void,
): Promise<void> {
  await upsertRecipient(tx, event);
  await releaseSlots(tx, event.data.accountId, rateLimit);
  await releaseWithheld(tx, event.data.accountId);
  const { credentialsChanged = [], email, previousEmail = email, emailVerified, previousEmailVerified } = event.data;
  // An address that is not verified may belong to another person, so it gets no notice.
  const verified = { password: emailVerified ?? true, email: previousEmailVerified ?? true };
  for (const credential of credentialsChanged) {
    if (verified[credential]) await addNotice(tx, `${credential}-changed`, event, previousEmail);
  }
  if (event.data.eraseAt !== undefined) {
    await addErasureNotices(tx, event);
    if (!verified.password) await endTokenEmails(tx, event.data.accountId, rateLimit);
  }
  tx.afterCommit(wake);
}
