// Changes with webhooks to which nothing is sent, because accounts does not answer.
import { createEncryption } from '@shop/shared/auth';
import { newId } from '@shop/shared/runtime';
import { startServices, type TestAnswer, type TestServices } from '@shop/shared/testing';
import type { components } from '../../src/generated.ts';
import { type EventPublisher, openPublisher } from '../published-events.ts';

export type Webhook = components['schemas']['Webhook'];

/** The value of `WEBHOOK_KEYS` in tests. */
export const webhookKey = Buffer.alloc(32, 9).toString('base64url');
export const encryption = createEncryption([webhookKey], 'webhook secrets');

export interface Owner {
  readonly accountId: string;
  readonly token: string;
}

export interface WebhookShop {
  readonly services: TestServices;
  readonly publisher: EventPublisher;
  owner(scopes?: readonly string[], isMachine?: boolean): Promise<Owner>;
  call(owner: Owner, method: string, path: string, options?: object): Promise<TestAnswer>;
  /** Adds a webhook and returns the response. */
  add(owner: Owner, body?: object): Promise<TestAnswer>;
  query(text: string, values?: unknown[]): Promise<Record<string, never>[]>;
  stop(): Promise<void>;
}

export async function startWebhookShop(environment: Readonly<Record<string, string>> = {}): Promise<WebhookShop> {
  const services = await startServices(['changes'], {
    environment: { WEBHOOK_SCOPES: 'accounts', ...environment },
  });
  const publisher = await openPublisher(services.database.urls.events);
  const { client, database } = services.service('changes');
  const call: WebhookShop['call'] = ({ token }, method, path, options = {}) =>
    client.call(method, path, { token, ...options });
  return {
    services,
    publisher,
    async owner(scopes = ['webhooks:write'], isMachine = false) {
      const accountId = newId();
      return { accountId, token: await services.issuer.sign({ accountId, scopes, isMachine }) };
    },
    call,
    add: (owner, body = {}) =>
      call(owner, 'POST', '/v1/webhooks', {
        body: { url: 'https://warehouse.example/shop', types: ['order'], ...body },
      }),
    query: async (text, values) => (await database.query(text, values)).rows,
    async stop() {
      await publisher.close();
      await services.stop();
    },
  };
}
