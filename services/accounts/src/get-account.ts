// GET /v1/accounts/{accountId}: the caller's own account.
import type { OperationRequest, Reply } from '@shop/shared/http';
import { Account, accountReply } from './account.ts';
import { noSuchAccount, ownAccountId } from './own-account.ts';

/** @throws Problem 403 for any other account */
export async function getAccount(request: OperationRequest): Promise<Reply> {
  const account = await Account.findByPk(ownAccountId(request));
  if (account === null) throw noSuchAccount();
  return accountReply(200, account);
}
