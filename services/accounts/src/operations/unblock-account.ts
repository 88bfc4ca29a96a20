// POST /v1/accounts/{accountId}/unblock

import type { Operation } from '../context.ts';
import { withAccountForSupport } from '../support/account-for-support.ts';
import { unblockAccount as unblock } from '../support/support.ts';

export const unblockAccount: Operation<'unblockAccount'> = (request, context) =>
  withAccountForSupport(request, context, 204, (tx, { id }, entry) => unblock(tx, id, entry));
