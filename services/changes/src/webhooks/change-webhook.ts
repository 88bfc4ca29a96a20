// Each change of a webhook by its owner: with the row locked, If-Match checked, the scopes of the token, and the next version.
import type { Transaction } from '@shop/shared/database';
import { type OperationRequest, requireCaller, requireMatch, toEtag } from '@shop/shared/http';
import type { Context } from '../context.ts';
import type { Webhook } from './webhook.ts';
import { lockWebhook, saveWebhook } from './webhook-store.ts';

/**
 * @param change returns the members that get another value
 * @throws Problem 404 when the caller has no such webhook, 412 when a condition is false
 */
export function changeWebhook(
  request: OperationRequest,
  { database }: Pick<Context, 'database'>,
  change: (webhook: Webhook, tx: Transaction) => Partial<Webhook> | Promise<Partial<Webhook>>,
): Promise<Webhook> {
  const caller = requireCaller(request);
  return database.transaction(async (tx) => {
    const webhook = await lockWebhook(tx, caller.accountId, request.path.webhookId ?? '');
    requireMatch(request.headers, toEtag(webhook.version));
    return saveWebhook(tx, { ...webhook, scopes: [...caller.scopes], ...(await change(webhook, tx)) });
  });
}

/** What makes the next request a ping that is sent soon. */
export const pingNow = (): Pick<Webhook, 'isPingDue' | 'nextAttemptAt'> => ({
  isPingDue: true,
  nextAttemptAt: new Date(),
});

/** What makes the endpoint answer a ping before changes are sent. The failures of the former endpoint are forgotten. */
export const unverified = (): Partial<Webhook> => ({
  ...pingNow(),
  status: 'unverified',
  failures: 0,
  failingSince: null,
  noticedHours: 0,
});
