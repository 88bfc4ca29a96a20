// GET /v1/webhooks/{webhookId}/attempts
import { requireCaller } from '@shop/shared/http';
import type { Operation } from '../context.ts';
import { findAttempts, toAttemptView } from '../webhooks/attempts.ts';
import { findWebhook } from '../webhooks/webhook-store.ts';

export const listAttempts: Operation<'listAttempts'> = async (request, { database }) => {
  const { id } = await findWebhook(database.pool, requireCaller(request).accountId, request.path.webhookId);
  return { status: 200, body: { items: (await findAttempts(database.pool, id)).map(toAttemptView) } };
};
