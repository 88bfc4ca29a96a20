// POST /v1/accounts/{accountId}/block
import type { Operation } from './context.ts';
import { blockAccount as block } from './support.ts';
import { withSupportedAccount } from './supported-account.ts';

export const blockAccount: Operation<'blockAccount'> = (request, context) =>
  withSupportedAccount(request, context, 204, (tx, { id }, entry) => block(tx, id, entry));
