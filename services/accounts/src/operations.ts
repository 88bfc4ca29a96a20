// The whole surface of accounts: the contract's operations and the functions behind them.
import type { Operations } from '@shop/shared/http';
import type { Context } from './context.ts';
import { getAccount } from './get-account.ts';
import { getKeySet } from './get-key-set.ts';
import { issueToken } from './issue-token.ts';
import { registerAccount } from './register-account.ts';
import { revokeToken } from './revoke-token.ts';
import { updateAccount } from './update-account.ts';

export const operations = {
  registerAccount,
  getAccount,
  updateAccount,
  issueToken,
  revokeToken,
  getKeySet,
} satisfies Operations<Context>;
