// POST /v1/webhooks/{webhookId}/test: lets the sender ping the endpoint.
import { toEtag } from '@shop/shared/http';
import type { Operation } from '../context.ts';
import { changeWebhook, pingNow } from '../webhooks/change-webhook.ts';
import { toWebhookView } from '../webhooks/webhook.ts';

export const testWebhook: Operation<'testWebhook'> = async (request, context) => {
  const webhook = await changeWebhook(request, context, pingNow);
  return { status: 202, etag: toEtag(webhook.version), body: toWebhookView(webhook) };
};
