// POST /internal/accounts/{accountId}/export: the webhooks of an account, for the export of its data.
import type { Operation } from '../context.ts';
import { toWebhookView } from '../webhooks/webhook.ts';
import { findWebhooks } from '../webhooks/webhook-store.ts';

export const exportWebhooks: Operation<'exportWebhooks'> = async ({ path }, { database }) => {
  const webhooks = await findWebhooks(database.pool, path.accountId);
  return { status: 200, body: { items: webhooks.map(toWebhookView) } };
};
