// POST /v1/password-resets/confirm: sets a new password with the token of an e-mail.
import { storedResponse } from '@shop/shared/http';
import { audit } from '../account/audit.ts';
import { refuseCommonPassword } from '../account/common-passwords.ts';
import { requireUsable, useEmailToken, voidEmailTokens } from '../account/email-token.ts';
import { countCredentialsChange, saveAccount, withdrawEmailChange } from '../account/email-verification.ts';
import { cancelErasure } from '../account/erasure.ts';
import type { Operation } from '../context.ts';
import { endAllFamilies } from '../session/refresh-token.ts';
import { toWaiter } from '../session/waiter.ts';

/**
 * @throws Problem 400 for a token that is not valid, 422 for a common password, 503 when too many passwords wait for
 *   their hash
 */
export const confirmPasswordReset: Operation<'confirmPasswordReset'> = async (request, context) => {
  const { token, password } = request.body;
  refuseCommonPassword(password);
  // A repeated request gets the stored response before a password is hashed, because its token has been used.
  const stored = await storedResponse(request, context);
  if (stored !== undefined) return stored;
  await requireUsable(request, context, 'password-reset', token);
  const passwordHash = await context.passwords.hash(password, toWaiter(request, true));
  return useEmailToken(request, context, 'password-reset', token, async (tx, { account }) => {
    const { id: accountId } = account;
    // The customer may not know about an unverified change of the address or an erasure, so both are withdrawn.
    await withdrawEmailChange(tx, account, request.id);
    await cancelErasure(tx, account, request.id);
    account.set({ passwordHash, emailVerified: true });
    countCredentialsChange(account);
    await saveAccount(tx, request, account, { credentialsChanged: ['password'] });
    await voidEmailTokens(tx, accountId, ['password-reset', 'email-verification']);
    await endAllFamilies(tx, accountId);
    await audit(tx, { action: 'password-reset', accountId, requestId: request.id, detail: {} });
  });
};
