// POST /v1/accounts/{accountId}/end-sessions

import { endSessionsFor } from '../account/support.ts';
import { withSupportedAccount } from '../account/supported-account.ts';
import type { Operation } from '../context.ts';

export const endAccountSessions: Operation<'endAccountSessions'> = (request, context) =>
  withSupportedAccount(request, context, 204, (tx, { id }, entry) => endSessionsFor(tx, id, entry));
