// POST /v1/accounts/{accountId}/unblock

import { withAccountForSupport } from '../account/account-for-support.ts';
import { unblockAccount as unblock } from '../account/support.ts';
import type { Operation } from '../context.ts';

export const unblockAccount: Operation<'unblockAccount'> = (request, context) =>
  withAccountForSupport(request, context, 204, (tx, { id }, entry) => unblock(tx, id, entry));
