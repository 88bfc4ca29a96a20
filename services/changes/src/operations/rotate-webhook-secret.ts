// POST /v1/webhooks/{webhookId}/rotate: replaces the secret. The former one signs, too, for 24 hours.
import { toEtag } from '@shop/shared/http';
import type { Operation } from '../context.ts';
import { changeWebhook } from '../webhooks/change-webhook.ts';
import { newWebhookSecret, toWebhookView } from '../webhooks/webhook.ts';

const overlap = 24 * 3_600_000;

export const rotateWebhookSecret: Operation<'rotateWebhookSecret'> = async (request, context) => {
  const secret = newWebhookSecret();
  const webhook = await changeWebhook(request, context, (present) => ({
    secret: context.webhookEncryption.encrypt(secret, present.id),
    previousSecret: present.secret,
    previousUntil: new Date(Date.now() + overlap),
  }));
  return { status: 200, etag: toEtag(webhook.version), body: { ...toWebhookView(webhook), secret } };
};
