// All operations of accounts: operationId → function.
import { blockAccount } from './block-account.ts';
import { confirmPasswordReset } from './confirm-password-reset.ts';
import type { CallingContext, Operation } from './context.ts';
import { endAccountSessions } from './end-account-sessions.ts';
import { endOtherSessions } from './end-other-sessions.ts';
import { endSession } from './end-session.ts';
import { eraseAccount } from './erase-account.ts';
import { exportAccount } from './export-account.ts';
import { findAccounts } from './find-accounts.ts';
import type { operations as contract } from './generated.ts';
import { getAccount } from './get-account.ts';
import { getKeySet } from './get-key-set.ts';
import { issueToken } from './issue-token.ts';
import { keepAccount } from './keep-account.ts';
import { listAccountAudit } from './list-account-audit.ts';
import { listEndedSessions } from './list-ended-sessions.ts';
import { listSessions } from './list-sessions.ts';
import { registerAccount } from './register-account.ts';
import { requestPasswordReset } from './request-password-reset.ts';
import { resendVerification } from './resend-verification.ts';
import { revokeToken } from './revoke-token.ts';
import { sendPasswordReset } from './send-password-reset.ts';
import { unblockAccount } from './unblock-account.ts';
import { undoEmailChange } from './undo-email-change.ts';
import { updateAccount } from './update-account.ts';
import { verifyEmail } from './verify-email.ts';

export const operations: { readonly [Id in keyof contract]: Operation<Id, CallingContext> } = {
  findAccounts,
  registerAccount,
  getAccount,
  updateAccount,
  eraseAccount,
  keepAccount,
  blockAccount,
  unblockAccount,
  endAccountSessions,
  sendPasswordReset,
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
};
