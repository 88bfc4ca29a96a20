// The event about accounts that something else than a request of their holder changed.
import type { Transaction } from '@shop/shared/database';
import { appendEvents } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import { type AccountDetails, toDetails } from './account.ts';

/** An account with its present version, in the transaction that changed it. */
export type ChangedAccount = AccountDetails & { readonly version: number };

interface EventRequest {
  readonly requestId?: string | undefined;
  readonly traceparent?: string | undefined;
}

/**
 * Appends `account.updated.v1` for each account, without anything that causes an e-mail. Without an account, no
 * statement runs.
 * @param request the request that changed them; without an id, each event gets a new one
 */
export async function appendAccountUpdates(
  tx: Transaction,
  accounts: readonly ChangedAccount[],
  { requestId, traceparent }: EventRequest = {},
): Promise<void> {
  if (accounts.length === 0) return;
  const events = accounts.map((account) => {
    const about = { subject: account.id, sequence: account.version, requestId: requestId ?? newId(), traceparent };
    return { type: 'account.updated.v1', ...about, data: toDetails(account) } as const;
  });
  await appendEvents(tx, events);
}
