// POST /v1/accounts/{accountId}/send-password-reset
import type { Operation } from './context.ts';
import { sendPasswordResetFor } from './support.ts';
import { withSupportedAccount } from './supported-account.ts';

/** @throws Problem 429 when staff has sent the account too many of these e-mails */
export const sendPasswordReset: Operation<'sendPasswordReset'> = (request, context) =>
  withSupportedAccount(request, context, 202, (tx, account, entry) =>
    sendPasswordResetFor(tx, { request, context }, account, entry),
  );
