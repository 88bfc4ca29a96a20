// The recordings that the consumers of notifications keep agree with the real process.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import {
  checkCall,
  eventually,
  type ProviderStates,
  type ReceivedEvents,
  receiveEvents,
  recordedCalls,
  recordedEvents,
  startServices,
  type TestServices,
} from '@shop/shared/testing';
import { joinEvents, type ShopEvents, someOrder } from './shop-events.ts';

let services: TestServices;
let events: ShopEvents;
let received: ReceivedEvents;

beforeAll(async () => {
  services = await startServices(['notifications']);
  events = await joinEvents(services.database.urls.events);
  received = await receiveEvents(services.database.urls.events, 'notifications');
});
afterAll(async () => {
  await received?.close();
  await events?.close();
  await services?.stop();
});

/** Sends an event about an order of an account with a verified address, and waits until its e-mail is sent. */
async function sent(about: 'cancelled' | 'linesCancelled'): Promise<Record<string, string>> {
  const order = someOrder();
  await events.send('account.registered.v1', { ...order.account, emailVerified: true });
  if (about === 'cancelled') await events.send('order.cancelled.v1', order.cancelled, { sequence: 2 });
  else await events.send('order.lines-cancelled.v1', order.linesCancelled, { sequence: 2 });
  const { orderId, accountId } = order;
  await eventually(async () => {
    const text = "SELECT FROM notifications WHERE order_id = $1 AND status = 'sent'";
    expect((await services.service('notifications').database.query(text, [orderId])).rows).toHaveLength(1);
  }, 15_000);
  return { order: orderId, account: accountId };
}

const states: ProviderStates = {
  'the e-mail about a cancelled order is sent': () => sent('cancelled'),
  'the e-mail about a cancelled lamp is sent': () => sent('linesCancelled'),
  async 'the account has 201 e-mails'() {
    const account = newId();
    const ids = Array.from({ length: 201 }, () => newId());
    const recipient = { accountId: account, email: 'ada@example.org', name: 'Ada Lovelace' };
    await events.send('account.registered.v1', { ...recipient, emailVerified: true });
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

it.each(recordedCalls({ provider: 'notifications' }))(
  'answers $consumer as recorded: $method $path $status, given $given',
  async (call) => {
    const { issuer, service } = services;
    expect(await checkCall(call, states, { issuer, client: service('notifications').client })).toEqual([]);
  },
);

it.each(recordedEvents({ provider: 'notifications' }))('sends $type to $consumer as recorded', async (event) => {
  expect(await received.check(event, states)).toEqual([]);
});
