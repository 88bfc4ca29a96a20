// POST /v1/accounts/{accountId}/erase: requests the erasure of the caller's account, after some days if its address is
// verified.
import { idempotent, storedResponse } from '@shop/shared/http';
import { Account, accountResult, requireAccountMatch } from '../account/account.ts';
import { audit } from '../account/audit.ts';
import { saveAccount } from '../account/email-verification.ts';
import { erasureNotice } from '../account/erasure.ts';
import { inTransaction } from '../account/models.ts';
import { noSuchAccount, ownAccountId } from '../account/own-account.ts';
import type { Operation } from '../context.ts';
import { checkCurrentPassword, requireHolder } from '../session/reauthentication.ts';
import { endAllFamilies } from '../session/refresh-token.ts';

const days = 7;

/**
 * Requests the erasure. A repeated request does not change its time. With the same `Idempotency-Key`, a repeated
 * request does not request a withdrawn erasure again.
 * @throws Problem 403 for another account or a wrong password, 404 when the account does not exist, 412 for another
 * version than that of `If-Match`
 */
export const eraseAccount: Operation<'eraseAccount'> = async (request, context) => {
  const accountId = ownAccountId(request);
  const stored = await storedResponse(request, context);
  if (stored !== undefined) return stored;
  const confirmedHash = await checkCurrentPassword(request, context, accountId, request.body.current_password);
  return idempotent(request, context, async (tx) => {
    const account = await Account.findByPk(accountId, inTransaction(tx, 'UPDATE'));
    if (account === null) throw noSuchAccount();
    requireAccountMatch(request, account);
    requireHolder(request, account, confirmedHash);
    if (account.eraseAt === null) {
      // An account that never had a verified address cannot get a notice, and its address may belong to another person.
      // So the erasure is due immediately, and the address is free.
      const { emailVerified } = account;
      const time = new Date(Date.now() + (emailVerified ? days * 86_400_000 : 0));
      account.set({ eraseAt: time, ...(!emailVerified && { emailKey: accountId, mailboxKey: accountId }) });
      const detail = { eraseAt: time.toISOString() };
      await audit(tx, { action: 'erasure-requested', accountId, requestId: request.id, detail });
      await saveAccount(tx, request, account, await erasureNotice(tx, account, time));
      if (!emailVerified) await endAllFamilies(tx, accountId);
    }
    return accountResult(202, account);
  });
};
