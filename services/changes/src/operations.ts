// All operations of changes: operationId → function.
import type { Operation } from './context.ts';
import type { operations as contract } from './generated.ts';
import { createWebhook } from './operations/create-webhook.ts';
import { deleteWebhook } from './operations/delete-webhook.ts';
import { exportWebhooks } from './operations/export-webhooks.ts';
import { followChanges } from './operations/follow-changes.ts';
import { getWebhook } from './operations/get-webhook.ts';
import { getWebhookKeys } from './operations/get-webhook-keys.ts';
import { listAttempts } from './operations/list-attempts.ts';
import { listChanges } from './operations/list-changes.ts';
import { listDeliveries } from './operations/list-deliveries.ts';
import { listWebhooks } from './operations/list-webhooks.ts';
import { replayWebhook } from './operations/replay-webhook.ts';
import { rotateWebhookSecret } from './operations/rotate-webhook-secret.ts';
import { testWebhook } from './operations/test-webhook.ts';
import { updateWebhook } from './operations/update-webhook.ts';

export const operations: { readonly [Id in keyof contract]: Operation<Id> } = {
  followChanges,
  listChanges,
  listDeliveries,
  listWebhooks,
  createWebhook,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  testWebhook,
  replayWebhook,
  rotateWebhookSecret,
  listAttempts,
  getWebhookKeys,
  exportWebhooks,
};
