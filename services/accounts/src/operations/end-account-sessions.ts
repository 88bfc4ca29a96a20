import type { Operation } from '../context.ts';
import { withAccountForSupport } from '../support/account-for-support.ts';
import { endSessionsFor } from '../support/support.ts';

export const endAccountSessions: Operation<'endAccountSessions'> = (request, context) =>
  withAccountForSupport(request, context, 204, (tx, { id }, entry) => endSessionsFor(tx, id, entry));
