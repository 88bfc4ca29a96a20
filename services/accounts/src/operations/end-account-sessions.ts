// POST /v1/accounts/{accountId}/end-sessions

import { withAccountForSupport } from '../account/account-for-support.ts';
import { endSessionsFor } from '../account/support.ts';
import type { Operation } from '../context.ts';

export const endAccountSessions: Operation<'endAccountSessions'> = (request, context) =>
  withAccountForSupport(request, context, 204, (tx, { id }, entry) => endSessionsFor(tx, id, entry));
