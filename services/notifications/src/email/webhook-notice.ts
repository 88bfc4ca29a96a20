// The e-mail to the owner of a webhook whose endpoint fails.
import { sql, type Transaction } from '@shop/shared/database';
import type { EventPayloads, ShopEvent } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';

/** An endpoint of a webhook of the account fails. */
export interface WebhookOccasion {
  readonly kind: 'webhook-failing';
  readonly details: EventPayloads['webhook.failing.v1'] & { readonly eventId: string };
}

/** Adds the notice, to the address that the account has when it is sent. */
export async function addWebhookNotice(
  tx: Transaction,
  { id, data, requestId, traceparent }: ShopEvent<'webhook.failing.v1'>,
): Promise<void> {
  const details: WebhookOccasion['details'] = { ...data, eventId: id };
  await sql(
    tx,
    `INSERT INTO notifications (id, kind, account_id, details, request_id, traceparent)
     SELECT $1, 'webhook-failing', $2, $3, $4, $5
     WHERE NOT EXISTS (SELECT FROM erased_accounts WHERE account_id = $2)`,
    [newId(), data.accountId, JSON.stringify(details), requestId, traceparent ?? null],
  );
}
