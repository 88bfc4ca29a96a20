// POST /v1/accounts/{accountId}/unblock

import { unblockAccount as unblock } from '../account/support.ts';
import { withSupportedAccount } from '../account/supported-account.ts';
import type { Operation } from '../context.ts';

export const unblockAccount: Operation<'unblockAccount'> = (request, context) =>
  withSupportedAccount(request, context, 204, (tx, { id }, entry) => unblock(tx, id, entry));
