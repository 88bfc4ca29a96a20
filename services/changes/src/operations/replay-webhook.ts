// POST /v1/webhooks/{webhookId}/replay: sends the changes since a time again.
import { toEtag } from '@shop/shared/http';
import type { Operation } from '../context.ts';
import { changeWebhook } from '../webhooks/change-webhook.ts';
import { replaySince } from '../webhooks/replay.ts';
import { toWebhookView } from '../webhooks/webhook.ts';

export const replayWebhook: Operation<'replayWebhook'> = async (request, context) => {
  const from = new Date(request.body.from);
  const webhook = await changeWebhook(request, context, (present, tx) => replaySince(tx, present, from));
  return { status: 200, etag: toEtag(webhook.version), body: toWebhookView(webhook) };
};
