// POST /v1/accounts/{accountId}/block

import { withAccountForSupport } from '../account/account-for-support.ts';
import { blockAccount as block } from '../account/support.ts';
import type { Operation } from '../context.ts';

export const blockAccount: Operation<'blockAccount'> = (request, context) =>
  withAccountForSupport(request, context, 204, (tx, { id }, entry) => block(tx, id, entry));
