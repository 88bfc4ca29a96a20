import { Account, accountResult } from '../account/account.ts';
import { noSuchAccount, ownAccountId } from '../account/own-account.ts';
import type { Operation } from '../context.ts';

/** @throws Problem 403 for the id of another account */
export const getAccount: Operation<'getAccount'> = async (request) => {
  const account = await Account.findByPk(ownAccountId(request));
  if (account === null) throw noSuchAccount();
  return accountResult(200, account);
};
