// GET /v1/webhooks/{webhookId}
import { requireCaller, toEtag } from '@shop/shared/http';
import type { Operation } from '../context.ts';
import { toWebhookView } from '../webhooks/webhook.ts';
import { findWebhook } from '../webhooks/webhook-store.ts';

export const getWebhook: Operation<'getWebhook'> = async (request, { database }) => {
  const webhook = await findWebhook(database.pool, requireCaller(request).accountId, request.path.webhookId);
  return { status: 200, etag: toEtag(webhook.version), body: toWebhookView(webhook) };
};
