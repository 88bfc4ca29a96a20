// POST /v1/accounts/{accountId}/unblock
import type { Operation } from './context.ts';
import { unblockAccount as unblock } from './support.ts';
import { withSupportedAccount } from './supported-account.ts';

export const unblockAccount: Operation<'unblockAccount'> = (request, context) =>
  withSupportedAccount(request, context, 204, (tx, { id }, entry) => unblock(tx, id, entry));
