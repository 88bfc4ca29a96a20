import { type AccessRule, type AccessRules, unlessAbsent } from '@shop/shared/testing';

const scope = 'webhooks:write';
/** Returns the rule of an operation on a webhook: others with the scope do not see it. */
const ofWebhook = (status: number, body?: object): AccessRule => ({
  ...{ resource: 'webhook', scope, expected: (_caller, target) => (target === 'own' ? status : 404) },
  ...(body && { body: () => body }),
});

export const accessRules: AccessRules = {
  listChanges: { public: true, expected: () => 200 },
  followChanges: { public: true, streams: true, expected: () => 200 },
  listDeliveries: { resource: 'change', scope, expected: unlessAbsent(200) },
  listWebhooks: { scope, expected: () => 200 },
  createWebhook: {
    scope,
    body: () => ({ url: 'https://warehouse.example/shop', types: ['order'] }),
    expected: () => 201,
  },
  getWebhook: ofWebhook(200),
  updateWebhook: ofWebhook(200, { status: 'paused' }),
  deleteWebhook: ofWebhook(204),
  testWebhook: ofWebhook(202),
  replayWebhook: ofWebhook(200, { from: new Date().toISOString() }),
  rotateWebhookSecret: ofWebhook(200),
  listAttempts: ofWebhook(200),
  getWebhookKeys: { public: true, expected: () => 200 },
};
