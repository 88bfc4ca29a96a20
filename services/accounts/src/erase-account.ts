// POST /v1/accounts/{accountId}/erase: the holder of an account has it erased after some days.
import { Account, accountReply } from './account.ts';
import { audit } from './audit.ts';
import type { Operation } from './context.ts';
import { saveAccount } from './email-verification.ts';
import { inside } from './models.ts';
import { noSuchAccount, ownAccountId } from './own-account.ts';
import { checkCurrentPassword, requireHolder } from './reauthentication.ts';

const days = 7;

/**
 * A repeated request does not change the time of the erasure.
 * @throws Problem 403 for another account or a wrong password, 404 when the account does not exist
 */
export const eraseAccount: Operation<'eraseAccount'> = async (request, context) => {
  const accountId = ownAccountId(request);
  const confirmedHash = await checkCurrentPassword(request, context, accountId, request.body.current_password);
  return context.database.transaction(async (tx) => {
    const account = await Account.findByPk(accountId, inside(tx, 'UPDATE'));
    if (account === null) throw noSuchAccount();
    requireHolder(request, account, confirmedHash);
    if (account.eraseAt === null) {
      const time = new Date(Date.now() + days * 86_400_000);
      account.set({ eraseAt: time });
      const eraseAt = time.toISOString();
      await audit(tx, { action: 'erasure-requested', accountId, requestId: request.id, detail: { eraseAt } });
      await saveAccount(tx, request, account, { eraseAt });
    }
    return accountReply(202, account);
  });
};
