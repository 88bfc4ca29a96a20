// DELETE /v1/accounts/{accountId}/erase: withdraws the erasure of the caller's account.
import { Account, notErased } from '../account/account.ts';
import { saveAccount } from '../account/email-verification.ts';
import { cancelErasure } from '../account/erasure.ts';
import { inTransaction } from '../account/models.ts';
import { noSuchAccount, ownAccountId } from '../account/own-account.ts';
import type { Operation } from '../context.ts';
import { requireRecentLogIn } from '../session/reauthentication.ts';

/**
 * @throws Problem 403 for another account and without a recent log-in, 404 when the account does not exist or its
 * erasure is due
 */
export const withdrawErasure: Operation<'withdrawErasure'> = (request, context) => {
  const accountId = ownAccountId(request);
  return context.database.transaction(async (tx) => {
    const account = await Account.findOne({ where: { id: accountId, ...notErased() }, ...inTransaction(tx, 'UPDATE') });
    if (account === null) throw noSuchAccount();
    if (account.eraseAt !== null) {
      requireRecentLogIn(request, account, 'This needs an access token of a log-in in the last 5 minutes.');
      await cancelErasure(tx, account, request.id);
      await saveAccount(tx, request, account);
    }
    return { status: 204 };
  });
};
