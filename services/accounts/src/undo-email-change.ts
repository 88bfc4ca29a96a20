// POST /v1/email-verifications/undo: the holder of the former address undoes a change of the address.
import { sql } from '@shop/shared/database';
import { audit } from './audit.ts';
import type { Operation } from './context.ts';
import { useEmailToken, voidEmailTokens } from './email-token.ts';
import { countCredentialsChange, saveAccount, withdrawEmailChange } from './email-verification.ts';
import { endAllFamilies } from './refresh-token.ts';

/**
 * Ends every session, because one of them requested the change that the holder has now undone.
 * @throws Problem 400 for a token that is not valid, 409 when another account has the address by now
 */
export const undoEmailChange: Operation<'undoEmailChange'> = (request, context) =>
  useEmailToken(request, context, 'email-change-undo', request.body.token, async (tx, used) => {
    const { account, email, createdAt } = used;
    const { id: accountId, email: present } = account;
    await withdrawEmailChange(tx, account, request.id);
    account.set({ email, emailVerified: true });
    countCredentialsChange(account);
    await saveAccount(tx, request, account, email === present ? {} : { previousEmail: present.trim() });
    await voidEmailTokens(tx, accountId, ['email-verification', 'password-reset']);
    // The tokens of later changes were sent to addresses that this change introduced, so they must not undo this
    // operation.
    await sql(
      tx,
      "DELETE FROM email_tokens WHERE account_id = $1 AND purpose = 'email-change-undo' AND created_at >= $2",
      [accountId, createdAt],
    );
    await endAllFamilies(tx, accountId);
    const detail = { from: present, to: email };
    await audit(tx, { action: 'email-change-undone', accountId, requestId: request.id, detail });
  });
