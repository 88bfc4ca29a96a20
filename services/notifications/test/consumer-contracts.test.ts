// The recordings that the consumers of notifications keep agree with the real process.
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { EventType, Transport } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import {
  connectTestTransport,
  eventOf,
  eventually,
  messageOf,
  type ProviderStates,
  recordedEvents,
  startServices,
  type TestServices,
  type Values,
} from '@shop/shared/testing';
import { consumerContractsSuite } from '@shop/shared/testing/consumer-contracts';

const recorded = recordedEvents({ consumer: 'notifications' });
let services: TestServices;
let transport: Transport;

beforeAll(async () => {
  services = await startServices(['notifications']);
  transport = await connectTestTransport(services.database.urls.events);
});
afterAll(async () => {
  await transport?.close();
  await services?.stop();
});

/** Sends recorded events about one account. */
async function send(...types: EventType[]): Promise<Values> {
  const values: Values = new Map([['email', 'ada@example.org']]);
  for (const type of types) await transport.publish([messageOf(eventOf(recorded, type), values)]);
  return values;
}

/** Sends a recorded event about an order of an account with a verified address, and waits until its e-mail is sent. */
async function sent(type: EventType): Promise<Record<string, string>> {
  const values = await send('account.updated.v1', type);
  await eventually(async () => {
    const text = "SELECT FROM notifications WHERE order_id = $1 AND status = 'sent'";
    const { rows } = await services.service('notifications').database.query(text, [values.get('order')]);
    expect(rows).toHaveLength(1);
  }, 15_000);
  return Object.fromEntries(values);
}

const states: ProviderStates = {
  'the e-mail about a cancelled order is sent': () => sent('order.cancelled.v1'),
  'the e-mail about a cancelled lamp is sent': () => sent('order.lines-cancelled.v1'),
  async 'the account has 201 e-mails'() {
    const account = (await send('account.registered.v1')).get('account') ?? '';
    const ids = Array.from({ length: 201 }, () => newId());
    const { database } = services.service('notifications');
    await database.query(
      `INSERT INTO notifications (id, order_id, account_id, kind, details, request_id, status, settled_at)
       SELECT id, gen_random_uuid(), $2, 'order-received', '{}', 'request', 'sent', now()
       FROM unnest($1::uuid[]) AS id`,
      [ids, account],
    );
    await eventually(async () => {
      const { rows } = await database.query('SELECT FROM recipients WHERE account_id = $1', [account]);
      expect(rows).toHaveLength(1);
    });
    return { account, first: ids[0] ?? '', last: ids[199] ?? '', final: ids[200] ?? '' };
  },
};

consumerContractsSuite('notifications', states, () => services);
