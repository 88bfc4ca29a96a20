// PATCH /v1/webhooks/{webhookId}
import { refuseFaults } from '@shop/shared/contract';
import { toEtag } from '@shop/shared/http';
import type { Operation } from '../context.ts';
import { changeWebhook, unverified } from '../webhooks/change-webhook.ts';
import { toWebhookView } from '../webhooks/webhook.ts';
import { urlFaults } from '../webhooks/webhook-url.ts';

/**
 * An endpoint that has another address, or to which nothing was sent for a while, has to answer a ping first. The webhook
 * continues where it stood.
 */
export const updateWebhook: Operation<'updateWebhook'> = async (request, context) => {
  refuseFaults(request.faults, urlFaults(request, context.urlRules));
  const { url, types, collapse, status } = request.body;
  const webhook = await changeWebhook(request, context, (present) => {
    const isNew = (url !== undefined && url !== present.url) || (status === 'active' && present.status !== 'active');
    return {
      ...(isNew && unverified()),
      ...(url !== undefined && { url }),
      ...(types !== undefined && { types }),
      ...(collapse !== undefined && { collapse }),
      // A paused webhook stays so with another address, and is pinged when it continues.
      ...((status === 'paused' || (status === undefined && present.status === 'paused')) && {
        status: 'paused',
        isPingDue: false,
      }),
    };
  });
  return { status: 200, etag: toEtag(webhook.version), body: toWebhookView(webhook) };
};
