// The service changes with webhooks that tests add, and receivers for them.
import { newId } from '@shop/shared/runtime';
import { eventually, startServices, type TestServices } from '@shop/shared/testing';
import type { components } from '../../src/generated.ts';
import { type EventPublisher, openPublisher, productEvent, type TestEvent } from '../published-events.ts';
import { type Receiver, startReceiver } from './receiver.ts';

type Added = components['schemas']['WebhookWithSecret'];

export interface SendingShop {
  readonly services: TestServices;
  readonly publisher: EventPublisher;
  /** Starts a receiver that the shop stops at its end. */
  receiver(): Promise<Receiver>;
  /** Adds a webhook whose endpoint has answered its ping. */
  add(url: string, options?: AddOptions): Promise<Added & { readonly token: string; readonly ownerId: string }>;
  /** Publishes the creation of products, one after the other, and returns their ids. */
  create(count: number): Promise<string[]>;
  /** Publishes further versions of a product. */
  update(product: string, from: number, to?: number): Promise<void>;
  /** Makes everything that waits for a time due now. */
  hurry(webhookId: string): Promise<void>;
  stateOf(webhookId: string): Promise<{ status: string; failures: number; position: number; waits: boolean }>;
  parkedOf(webhookId: string): Promise<number>;
  stop(): Promise<void>;
}

interface AddOptions {
  readonly types?: readonly string[];
  readonly collapse?: boolean;
  readonly scopes?: readonly string[];
  /** Whether a ping is awaited. */
  readonly isPinged?: boolean;
  readonly ownerId?: string;
}

export async function startSendingShop(environment: Record<string, string> = {}): Promise<SendingShop> {
  const services = await startServices(['changes'], {
    shared: false,
    environment: { WEBHOOKS_ALLOW: '127.0.0.0/8', ...environment },
  });
  const publisher = await openPublisher(services.database.urls.events);
  const receivers: Receiver[] = [];
  const { client, database } = services.service('changes');
  const stateOf: SendingShop['stateOf'] = async (id) => {
    const { rows } = await database.query(
      'SELECT status, failures, position::int, next_attempt_at > now() AS waits FROM webhooks WHERE id = $1',
      [id],
    );
    return rows[0];
  };
  return {
    ...{ services, publisher, stateOf },
    async receiver() {
      const receiver = await startReceiver();
      receivers.push(receiver);
      return receiver;
    },
    async add(url, { types = ['product'], collapse = false, scopes = [], isPinged = true, ownerId = newId() } = {}) {
      const token = await services.issuer.sign({ accountId: ownerId, scopes: ['webhooks:write', ...scopes] });
      const answer = await client.post('/v1/webhooks', { token, body: { url, types, collapse } });
      if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
      const webhook = answer.body as unknown as Added;
      if (isPinged) {
        await eventually(async () => {
          if ((await stateOf(webhook.id)).status !== 'active') throw new Error('the webhook is not active');
        });
      }
      return { ...webhook, token, ownerId };
    },
    async create(count) {
      const ids = Array.from({ length: count }, () => newId());
      await publisher.publish(ids.map((id) => productEvent(id, 1, { type: 'product.created.v1' })));
      return ids;
    },
    async update(product, from, to = from) {
      const events: TestEvent[] = [];
      for (let version = from; version <= to; version += 1) events.push(productEvent(product, version));
      await publisher.publish(events);
    },
    async hurry(id) {
      await database.query('UPDATE parked_subjects SET next_attempt_at = now() WHERE webhook_id = $1', [id]);
      await database.query('UPDATE webhooks SET next_attempt_at = now() WHERE id = $1', [id]);
    },
    async parkedOf(id) {
      const { rows } = await database.query(
        'SELECT count(*)::int AS count FROM parked_subjects WHERE webhook_id = $1',
        [id],
      );
      return rows[0].count;
    },
    async stop() {
      await publisher.close();
      await services.stop();
      await Promise.all(receivers.map((receiver) => receiver.close()));
    },
  };
}
