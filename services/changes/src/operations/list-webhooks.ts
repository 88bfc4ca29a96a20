// GET /v1/webhooks: all webhooks of the caller.
import { requireCaller } from '@shop/shared/http';
import type { Operation } from '../context.ts';
import { toWebhookView } from '../webhooks/webhook.ts';
import { findWebhooks } from '../webhooks/webhook-store.ts';

export const listWebhooks: Operation<'listWebhooks'> = async (request, { database }) => {
  const webhooks = await findWebhooks(database.pool, requireCaller(request).accountId);
  return { status: 200, body: { items: webhooks.map(toWebhookView) } };
};
