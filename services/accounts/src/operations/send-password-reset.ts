// POST /v1/accounts/{accountId}/send-password-reset

import type { Operation } from '../context.ts';
import { withAccountForSupport } from '../support/account-for-support.ts';
import { sendPasswordResetFor } from '../support/support.ts';

/** @throws Problem 429 when staff has sent the account too many of these e-mails */
export const sendPasswordReset: Operation<'sendPasswordReset'> = (request, context) =>
  withAccountForSupport(request, context, 202, (tx, account, entry) => {
    // Without the headers, because the network of staff is not that of a customer.
    const { id, traceparent } = request;
    return sendPasswordResetFor(tx, { request: { id, traceparent }, context }, account, entry);
  });
