// POST /v1/email-verifications: verifies the address of an account, or lets the new address of a change take effect.
import { sql, type Transaction } from '@shop/shared/database';
import type { OperationRequest } from '@shop/shared/http';
import { type Account, emailTaken } from '../account/account.ts';
import { audit } from '../account/audit.ts';
import {
  invalidToken,
  sendEmailToken,
  type TokenSender,
  useEmailToken,
  voidEmailTokens,
} from '../account/email-token.ts';
import { countCredentialsChange, saveAccount } from '../account/email-verification.ts';
import { cancelErasure } from '../account/erasure.ts';
import { isFormerOfAnother, returnToFormer } from '../account/former-address.ts';
import type { Operation } from '../context.ts';
import { refuseBlocked } from '../session/reauthentication.ts';

/**
 * @throws Problem 400 for a token that is not valid, 403 for a change of the address of a blocked account, 409 when another
 * account has the address by now
 */
export const verifyEmail: Operation<'verifyEmail'> = (request, context) =>
  useEmailToken(request, context, 'email-verification', request.body.token, async (tx, { account, email }) => {
    if (email === account.pendingEmail) return changeEmail(tx, request, context, account, email);
    if (email !== account.email) throw invalidToken();
    if (!account.emailVerified) await cancelErasure(tx, account, request.id);
    account.set({ emailVerified: true });
    await saveAccount(tx, request, account);
    const detail = { email, by: 'holder' } as const;
    await audit(tx, { action: 'email-verified', accountId: account.id, requestId: request.id, detail });
  });

async function changeEmail(
  tx: Transaction,
  request: OperationRequest,
  context: TokenSender['context'],
  account: Account,
  email: string,
): Promise<void> {
  refuseBlocked(account);
  const { id: accountId, email: former, emailVerified: previousEmailVerified } = account;
  account.set({ email, emailVerified: true, pendingEmail: null });
  countCredentialsChange(account);
  await saveAccount(tx, request, account, {
    credentialsChanged: ['email'],
    previousEmail: former.trim(),
    previousEmailVerified,
  });
  // Checked after the update, which waits for a concurrent change of the address.
  if (await isFormerOfAnother(tx, accountId, email)) throw emailTaken(undefined, '/token');
  // Tokens that were sent to the previous address must not give access to the account any more, except the one that
  // undoes the change.
  await voidEmailTokens(tx, accountId, ['password-reset']);
  const returns = await returnToFormer(tx, accountId, email);
  if (!returns) await keepFormerAddress(tx, { request, context }, account, former, previousEmailVerified);
  const detail = { from: former, to: email };
  await audit(tx, { action: 'email-changed', accountId, requestId: request.id, detail });
}

/** Stores the previous address, which can undo the change for 7 days if it was verified. */
async function keepFormerAddress(
  tx: Transaction,
  sender: TokenSender,
  account: Account,
  former: string,
  wasVerified: boolean,
): Promise<void> {
  const extended = await sql(
    tx,
    `UPDATE email_tokens SET expires_at = now() + interval '7 days'
     WHERE account_id = $1 AND purpose = 'email-change-undo' AND email = $2 AND expires_at > now() RETURNING digest`,
    [account.id, former],
  );
  // The token of the request has expired, or the address was verified after the request.
  if (extended.length === 0 && wasVerified) await sendEmailToken(tx, sender, account, 'email-change-undo', former);
}
