// A pending erasure: what withdraws it, and what its notices need.
import type { Transaction } from '@shop/shared/database';
import type { EventPayloads } from '@shop/shared/events';
import type { Account } from './account.ts';
import { audit } from './audit.ts';
import { formerAddresses } from './former-address.ts';

/**
 * Withdraws a pending erasure if one exists, because the customer has given a proof that the author of the erasure may
 * lack. The caller has locked the account and saves it, and the erasure is not due.
 */
export async function cancelErasure(tx: Transaction, account: Account, requestId: string | undefined): Promise<void> {
  if (account.eraseAt === null) return;
  account.set({ eraseAt: null });
  await audit(tx, { action: 'erasure-withdrawn', accountId: account.id, requestId, detail: {} });
}

/**
 * Returns the data of the event that causes the notices about an erasure, including those to the previous addresses.
 */
export async function erasureNotice(
  tx: Transaction,
  account: Pick<Account, 'id' | 'email'>,
  eraseAt: Date,
): Promise<Pick<EventPayloads['account.updated.v1'], 'eraseAt' | 'formerEmails'>> {
  const formerEmails = await formerAddresses(tx, account);
  return { eraseAt: eraseAt.toISOString(), ...(formerEmails.length > 0 && { formerEmails: [...formerEmails] }) };
}

/**
 * The stored response to the registration, which had no authenticated caller. The expression and the operation are those
 * of the index in migration 0015, because PostgreSQL uses the index for no others.
 */
export const isAnswerToRegistration = String.raw`operation_id = 'registerAccount'
  AND substring(body FROM '^\{"id":"([0-9a-f-]{36})"') = $1::text`;
