// account.updated.v1: stores the new address, and adds notices about changed credentials.
import type { Transaction } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';
import type { Pace } from '../email/email-shares.ts';
import { addErasureNotices, addNotice, endTokenEmails, leaveShare } from '../email/notification.ts';
import { keepRecipient } from '../email/recipient.ts';
import { releaseWithheld } from '../email/withheld-emails.ts';

/** @param wake called after COMMIT, because there may be e-mails to send */
export async function onAccountUpdated(
  event: ShopEvent<'account.updated.v1'>,
  tx: Transaction,
  pace: Pace,
  wake: () => void,
): Promise<void> {
  await keepRecipient(tx, event);
  await leaveShare(tx, event.data.accountId, pace);
  await releaseWithheld(tx, event.data.accountId);
  const { credentialsChanged = [], email, previousEmail = email, emailVerified, previousEmailVerified } = event.data;
  // An address that is not verified may belong to a stranger, so it gets no notice.
  const verified = { password: emailVerified ?? true, email: previousEmailVerified ?? true };
  for (const credential of credentialsChanged) {
    if (verified[credential]) await addNotice(tx, `${credential}-changed`, event, previousEmail);
  }
  if (event.data.eraseAt !== undefined) {
    await addErasureNotices(tx, event);
    if (!verified.password) await endTokenEmails(tx, event.data.accountId, pace);
  }
  tx.afterCommit(wake);
}
