// POST /v1/email-verifications/resend: sends the verification e-mail of the caller's account again.
import { idempotent, requireCaller } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { Account, notErased } from '../account/account.ts';
import { isOfAnother, requireVerificationShare, sendVerification } from '../account/email-verification.ts';
import { inTransaction } from '../account/models.ts';
import { noSuchAccount } from '../account/own-account.ts';
import type { Operation } from '../context.ts';

/**
 * @throws Problem 404 when the account does not exist or is due for erasure, 409 when another account has the new
 * address by now, 429 when too many verification e-mails were sent
 */
export const resendVerification: Operation<'resendVerification'> = (request, context) =>
  idempotent<never>(request, context, async (tx) => {
    const where = { id: requireCaller(request).accountId, ...notErased() };
    const account = await Account.findOne({ where, ...inTransaction(tx, 'UPDATE') });
    if (account === null) throw noSuchAccount();
    const email = account.pendingEmail ?? (account.emailVerified ? undefined : account.email);
    if (email !== undefined) {
      // A token for this address could not be used.
      if (email !== account.email && (await isOfAnother(tx, account, email))) throw registeredMeanwhile();
      await requireVerificationShare(tx, account.id);
      await sendVerification(tx, { request, context }, account, email);
    }
    return { status: 202 };
  });

function registeredMeanwhile(): Problem {
  return new Problem(
    'email-already-registered',
    'Another account has registered the new e-mail address meanwhile. Change to another address, or keep the present one.',
  );
}
