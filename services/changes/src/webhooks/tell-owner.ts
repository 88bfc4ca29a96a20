// Tells the owner of a webhook that its endpoint fails.
import type { Transaction } from '@shop/shared/database';
import { appendEvent } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import type { Stage } from './retry.ts';
import type { Webhook } from './webhook.ts';

/** Appends the event of which the owner gets an e-mail. A machine has no address. */
export async function tellOwner(
  tx: Transaction,
  { id: webhookId, version: sequence, ownerId: accountId, isMachine, url, failingSince }: Webhook,
  stage: Stage,
): Promise<void> {
  if (isMachine || failingSince === null) return;
  const { host } = new URL(url);
  const data = { webhookId, accountId, host, stage, failingSince: failingSince.toISOString() };
  await appendEvent(tx, { type: 'webhook.failing.v1', subject: webhookId, sequence, data, requestId: newId() });
}
