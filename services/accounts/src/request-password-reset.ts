// POST /v1/password-resets: sends a token for a new password to the address, if an account has it.
import { setTimeout as sleep } from 'node:timers/promises';
import { idempotent } from '@shop/shared/http';
import { emailKey } from '@shop/shared/runtime';
import { Account } from './account.ts';
import { audit } from './audit.ts';
import type { Operation } from './context.ts';
import { sendEmailToken } from './email-token.ts';
import { untilShare } from './email-verification.ts';
import { inside } from './models.ts';

/**
 * Milliseconds after which the request is answered. Several times the duration of the work, so that the rows of a token
 * do not show in the time of the answer.
 */
const answerAfter = 300;

/**
 * Answers 202 for every address, after the same time. Both cases commit one transaction with a row of the audit log.
 */
export const requestPasswordReset: Operation<'requestPasswordReset'> = async (request, context) => {
  const due = sleep(answerAfter);
  const reply = await idempotent<never>(request, context, async (tx) => {
    const where = { emailKey: emailKey(request.body.email) };
    const account = await Account.findOne({ where, ...inside(tx, 'UPDATE') });
    // An account that has had its share keeps its last token. Otherwise a stranger could replace the holder's for ever.
    if (account !== null && (await untilShare(tx, account.id, 'password-reset-requested')) === 0) {
      await sendEmailToken(tx, { request, context }, account, 'password-reset', account.email);
    }
    const entry = { accountId: account?.id, requestId: request.id, detail: {} };
    await audit(tx, { action: 'password-reset-requested', ...entry });
    return { status: 202 };
  });
  await due;
  return reply;
};
