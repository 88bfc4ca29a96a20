// Lets an operator confirm that an e-mail address belongs to the customer.
import { sql, type Transaction } from '@shop/shared/database';
import { type Environment, StartError } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { detailColumns } from '../account/account.ts';
import { appendAccountUpdates, type ChangedAccount } from '../account/account-events.ts';
import { audit } from '../account/audit.ts';
import { findHolders } from '../account/mailbox.ts';
import { readDatabaseConfig } from '../config.ts';

export interface VerifiedAccount {
  readonly accountId: string;
  readonly email: string;
}

/**
 * Marks the address of an account as verified, as a verification e-mail does. The next access token contains this, and
 * a pending erasure is withdrawn.
 * @param environment the variables of accounts, of which DATABASE_URL is read
 * @throws StartError when no account has this e-mail address
 */
export function verifyEmailAsOperator(environment: Environment, email: string): Promise<VerifiedAccount> {
  return withDatabase({ url: readDatabaseConfig(environment).databaseUrl, name: 'accounts verify-email' }, (database) =>
    database.transaction(async (tx) => {
      const [id = null] = await findHolders(tx, email);
      const [verified] = await sql<ChangedAccount & { readonly withdrawn: boolean }>(
        tx,
        `UPDATE accounts SET email_verified = true, version = version + 1, updated_at = now(),
           erase_at = CASE WHEN withdrawn THEN NULL ELSE erase_at END
         FROM (SELECT id AS found, coalesce(erase_at > now(), false) AS withdrawn FROM accounts
               WHERE id = $1 AND NOT email_verified FOR UPDATE) AS before
         WHERE id = found
         RETURNING withdrawn, ${detailColumns}, version`,
        [id],
      );
      if (verified === undefined) return requireAccount(tx, id, email);
      const { id: accountId } = verified;
      if (verified.withdrawn)
        await audit(tx, { action: 'erasure-withdrawn', accountId, requestId: undefined, detail: {} });
      const detail = { email: verified.email, by: 'operator' } as const;
      await audit(tx, { action: 'email-verified', accountId, requestId: undefined, detail });
      await appendAccountUpdates(tx, [verified]);
      return { accountId, email: verified.email };
    }),
  );
}

async function requireAccount(tx: Transaction, id: string | null, email: string): Promise<VerifiedAccount> {
  const [account] = await sql<VerifiedAccount>(tx, 'SELECT id AS "accountId", email FROM accounts WHERE id = $1', [id]);
  if (account !== undefined) return account;
  throw new StartError(`there is no account with the e-mail ${email}: it has to be registered first`);
}
