// All operations of accounts: operationId → function.

import type { CallingContext, Operation } from './context.ts';
import type { operations as contract } from './generated.ts';
import { blockAccount } from './operations/block-account.ts';
import { confirmPasswordReset } from './operations/confirm-password-reset.ts';
import { endAccountSessions } from './operations/end-account-sessions.ts';
import { endOtherSessions } from './operations/end-other-sessions.ts';
import { endSession } from './operations/end-session.ts';
import { eraseAccount } from './operations/erase-account.ts';
import { exportAccount } from './operations/export-account.ts';
import { findAccounts } from './operations/find-accounts.ts';
import { getAccount } from './operations/get-account.ts';
import { getKeySet } from './operations/get-key-set.ts';
import { issueToken } from './operations/issue-token.ts';
import { listAccountAudit } from './operations/list-account-audit.ts';
import { listEndedSessions } from './operations/list-ended-sessions.ts';
import { listSessions } from './operations/list-sessions.ts';
import { readScopes } from './operations/read-scopes.ts';
import { registerAccount } from './operations/register-account.ts';
import { requestPasswordReset } from './operations/request-password-reset.ts';
import { resendVerification } from './operations/resend-verification.ts';
import { revokeToken } from './operations/revoke-token.ts';
import { sendPasswordReset } from './operations/send-password-reset.ts';
import { setTaxId } from './operations/set-tax-id.ts';
import { unblockAccount } from './operations/unblock-account.ts';
import { undoEmailChange } from './operations/undo-email-change.ts';
import { updateAccount } from './operations/update-account.ts';
import { verifyEmail } from './operations/verify-email.ts';
import { withdrawErasure } from './operations/withdraw-erasure.ts';

export const operations: { readonly [Id in keyof contract]: Operation<Id, CallingContext> } = {
  findAccounts,
  registerAccount,
  getAccount,
  updateAccount,
  eraseAccount,
  withdrawErasure,
  blockAccount,
  unblockAccount,
  endAccountSessions,
  sendPasswordReset,
  setTaxId,
  listAccountAudit,
  exportAccount,
  verifyEmail,
  resendVerification,
  undoEmailChange,
  requestPasswordReset,
  confirmPasswordReset,
  issueToken,
  revokeToken,
  listSessions,
  endOtherSessions,
  endSession,
  getKeySet,
  listEndedSessions,
  readScopes,
};
