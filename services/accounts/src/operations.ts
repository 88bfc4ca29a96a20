// All operations of accounts: operationId → function.
import type { Operation } from './context.ts';
import type { operations as contract } from './generated.ts';
import { getAccount } from './get-account.ts';
import { getKeySet } from './get-key-set.ts';
import { issueToken } from './issue-token.ts';
import { registerAccount } from './register-account.ts';
import { revokeToken } from './revoke-token.ts';
import { updateAccount } from './update-account.ts';

export const operations: { readonly [Id in keyof contract]: Operation<Id> } = {
  registerAccount,
  getAccount,
  updateAccount,
  issueToken,
  revokeToken,
  getKeySet,
};
