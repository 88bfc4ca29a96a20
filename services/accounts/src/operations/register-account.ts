// POST /v1/accounts: creates an account with a hashed password, its event, and the e-mail that verifies its address.
import { appendEvent } from '@shop/shared/events';
import { idempotent, storedResponse } from '@shop/shared/http';
import { newId } from '@shop/shared/runtime';
import { Account, accountResult, emailTaken, profileColumns, toDetails } from '../account/account.ts';
import { refuseCommonPassword } from '../account/common-passwords.ts';
import { isOfAnother, sendVerification } from '../account/email-verification.ts';
import { isFormerOfAnother } from '../account/former-address.ts';
import { addressKeys, isAddressTaken } from '../account/mailbox.ts';
import { inTransaction } from '../account/models.ts';
import type { Operation } from '../context.ts';
import { toWaiter } from '../session/waiter.ts';

/**
 * @throws Problem 409 for a registered e-mail address, 422 for a common password, 503 when too many passwords wait for
 * their hash
 */
export const registerAccount: Operation<'registerAccount'> = async (request, context) => {
  const { password, ...given } = request.body;
  const profile = { ...given, email: given.email.trim() };
  refuseCommonPassword(password);
  // A repeated registration needs no hash, so it succeeds even when the queue for hashes is full.
  const stored = await storedResponse(request, context);
  if (stored !== undefined) return stored;
  // The hash is computed before the transaction, so that a request that waits for its hash occupies no connection.
  const passwordHash = await context.passwords.hash(password, toWaiter(request, false));
  return idempotent(request, context, async (tx) => {
    const row = {
      id: newId(),
      ...profileColumns(profile),
      ...addressKeys(profile.email),
      emailVerified: false,
      passwordHash,
      version: 1,
    };
    if (await isOfAnother(tx, row, profile.email)) throw emailTaken();
    // The unique indexes decide between concurrent registrations, which the check before could not.
    const account = await Account.create(row, inTransaction(tx)).catch((error: unknown) => {
      throw isAddressTaken(error) ? emailTaken(error) : error;
    });
    // Checked again after the insert, because the insert waits for a concurrent change of the address.
    if (await isFormerOfAnother(tx, account.id, account.email)) throw emailTaken();
    await appendEvent(tx, {
      type: 'account.registered.v1',
      subject: account.id,
      sequence: account.version,
      data: toDetails(account),
      requestId: request.id,
      traceparent: request.traceparent,
    });
    await sendVerification(tx, { request, context }, account, account.email);
    return accountResult(201, account, { Location: `/v1/accounts/${account.id}` });
  });
};
