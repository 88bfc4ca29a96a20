// DELETE /v1/webhooks/{webhookId}: with its attempts.
import { sql } from '@shop/shared/database';
import { requireCaller, requireMatch, toEtag } from '@shop/shared/http';
import type { Operation } from '../context.ts';
import { lockWebhook } from '../webhooks/webhook-store.ts';

export const deleteWebhook: Operation<'deleteWebhook'> = async (request, { database }) => {
  const { accountId } = requireCaller(request);
  await database.transaction(async (tx) => {
    const { id, version } = await lockWebhook(tx, accountId, request.path.webhookId);
    requireMatch(request.headers, toEtag(version));
    await sql(tx, 'DELETE FROM webhooks WHERE id = $1', [id]);
  });
  return { status: 204 };
};
