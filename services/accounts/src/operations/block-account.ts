// POST /v1/accounts/{accountId}/block

import { blockAccount as block } from '../account/support.ts';
import { withSupportedAccount } from '../account/supported-account.ts';
import type { Operation } from '../context.ts';

export const blockAccount: Operation<'blockAccount'> = (request, context) =>
  withSupportedAccount(request, context, 204, (tx, { id }, entry) => block(tx, id, entry));
