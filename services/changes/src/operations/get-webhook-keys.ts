// GET /.well-known/webhook-keys.json: the public keys of the signatures of webhooks.
import type { Operation } from '../context.ts';

/** A rotation publishes a key before it signs. */
export const getWebhookKeys: Operation<'getWebhookKeys'> = async (_request, { webhookKeys }) => ({
  status: 200,
  headers: { 'Cache-Control': 'public, max-age=300' },
  body: { keys: [...webhookKeys.keys] },
});
