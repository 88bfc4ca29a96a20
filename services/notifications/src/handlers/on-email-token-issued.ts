// email-token.issued.v1: adds the e-mail with a token. The token stays encrypted until the e-mail is sent.
import type { Transaction } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';
import type { Pace } from '../email/email-shares.ts';
import { addTokenEmail } from '../email/notification.ts';

/** @param wake called after COMMIT, because there is an e-mail to send */
export async function onEmailTokenIssued(
  event: ShopEvent<'email-token.issued.v1'>,
  tx: Transaction,
  pace: Pace,
  wake: () => void,
): Promise<void> {
  await addTokenEmail(tx, event, pace);
  tx.afterCommit(wake);
}
