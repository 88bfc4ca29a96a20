// POST /v1/password-resets: sends a token for a new password to the address, if an account has it.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction } from '@shop/shared/database';
import { idempotent } from '@shop/shared/http';
import { Account, notErased } from '../account/account.ts';
import { audit } from '../account/audit.ts';
import { sendEmailToken, type TokenSender } from '../account/email-token.ts';
import { untilShare } from '../account/email-verification.ts';
import { findHolders } from '../account/mailbox.ts';
import { inTransaction } from '../account/models.ts';
import type { Operation } from '../context.ts';

/**
 * Milliseconds after which the response is sent. This is several times the duration of the work, so the response time
 * does not reveal whether a token was stored.
 */
const answerAfter = 300;

/**
 * Returns 202 for every address, after the same time. Both cases commit one transaction with a row of the audit log.
 */
export const requestPasswordReset: Operation<'requestPasswordReset'> = async (request, context) => {
  const due = sleep(answerAfter);
  const result = await idempotent<never>(request, context, async (tx) => {
    const ids = await findHolders(tx, request.body.email);
    for (const id of ids.length > 0 ? ids : [undefined]) await resetPassword(tx, { request, context }, id);
    return { status: 202 };
  });
  await due;
  return result;
};

async function resetPassword(tx: Transaction, sender: TokenSender, id: string | undefined): Promise<void> {
  const account = await Account.findOne({ where: { id: id ?? [], ...notErased() }, ...inTransaction(tx, 'UPDATE') });
  // An account that has had its maximum of these e-mails retains its last token. Otherwise an unauthenticated client
  // could replace the token repeatedly. A request without an e-mail is recorded under another action, so that such
  // requests do not use up the limit of the customer.
  const isSent = account !== null && (await untilShare(tx, account.id, 'password-reset-requested')) === 0;
  if (isSent) await sendEmailToken(tx, sender, account, 'password-reset', account.email);
  const action = isSent || account === null ? 'password-reset-requested' : 'password-reset-withheld';
  await audit(tx, { action, accountId: account?.id, requestId: sender.request.id, detail: {} });
}
