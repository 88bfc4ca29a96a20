// email-token.issued.v1: adds the e-mail with a token. The token stays encrypted until the e-mail is sent.
import type { Transaction } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';
import { addTokenEmail } from '../email/notification.ts';
import type { RateLimit } from '../email/rate-limit.ts';

/** @param wake called after COMMIT, because there is an e-mail to send */
export async function onEmailTokenIssued(
  event: ShopEvent<'email-token.issued.v1'>,
  tx: Transaction,
  rateLimit: RateLimit,
  wake: () => void,
): Promise<void> {
  await addTokenEmail(tx, event, rateLimit);
  tx.afterCommit(wake);
}
