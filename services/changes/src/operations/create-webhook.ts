// POST /v1/webhooks: adds a webhook that begins at the head of the feed, and returns its secret once.
import { refuseFaults } from '@shop/shared/contract';
import { sql } from '@shop/shared/database';
import { idempotent, requireCaller, toEtag } from '@shop/shared/http';
import { newId } from '@shop/shared/runtime';
import type { Operation } from '../context.ts';
import { headStatement } from '../feed/change-reader.ts';
import type { FeedPosition } from '../feed/feed-cursors.ts';
import type { components } from '../generated.ts';
import { newWebhookSecret, toWebhookView } from '../webhooks/webhook.ts';
import { addWebhook } from '../webhooks/webhook-store.ts';
import { urlFaults } from '../webhooks/webhook-url.ts';

export const createWebhook: Operation<'createWebhook'> = async (request, context) => {
  const caller = requireCaller(request);
  const { webhookEncryption: encryption } = context;
  refuseFaults(request.faults, urlFaults(request, context.urlRules));
  const { url, types, collapse = false } = request.body;
  // The response is stored with the encrypted secret.
  const stored = await idempotent(request, context, async (tx) => {
    const [head] = await sql<FeedPosition>(tx, headStatement);
    if (head === undefined) throw new Error('the feed has a row');
    const id = newId();
    const secret = encryption.encrypt(newWebhookSecret(), id);
    const webhook = await addWebhook(tx, caller, { id, url, types, collapse, secret }, head);
    const json = JSON.stringify({ ...toWebhookView(webhook), secret });
    return { status: 201, headers: { Location: `/v1/webhooks/${id}` }, etag: toEtag(webhook.version), json };
  });
  if (stored.status !== 201) return stored;
  const view = JSON.parse(stored.json ?? '') as components['schemas']['WebhookWithSecret'];
  return { ...stored, json: JSON.stringify({ ...view, secret: encryption.decrypt(view.secret, view.id) }) };
};
