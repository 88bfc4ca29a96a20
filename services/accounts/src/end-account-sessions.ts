// POST /v1/accounts/{accountId}/end-sessions
import type { Operation } from './context.ts';
import { endSessionsFor } from './support.ts';
import { withSupportedAccount } from './supported-account.ts';

export const endAccountSessions: Operation<'endAccountSessions'> = (request, context) =>
  withSupportedAccount(request, context, 204, (tx, { id }, entry) => endSessionsFor(tx, id, entry));
