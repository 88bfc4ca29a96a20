// POST /v1/accounts/{accountId}/block

import type { Operation } from '../context.ts';
import { withAccountForSupport } from '../support/account-for-support.ts';
import { blockAccount as block } from '../support/support.ts';

export const blockAccount: Operation<'blockAccount'> = (request, context) =>
  withAccountForSupport(request, context, 204, (tx, { id }, entry) => block(tx, id, entry));
