// E-mails about orders wait for the verification of the address, and no stranger gets them.
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, lockWaits, startServices, type TestServices } from '@shop/shared/testing';
import { joinEvents, type ShopEvents, someOrder } from './shop-events.ts';

let services: TestServices;
let events: ShopEvents;

beforeAll(async () => {
  services = await startServices(['notifications']);
  events = await joinEvents(services.database.urls.events);
});
afterAll(async () => {
  await events?.close();
  await services?.stop();
});

type Order = ReturnType<typeof someOrder>;

const database = () => services.service('notifications').database;

/** An order of a new account that has its own address, which is not verified. */
async function orderOfStranger(): Promise<Order> {
  const order = someOrder();
  const account = { ...order.account, email: `${order.accountId}@example.org` };
  await events.send('account.registered.v1', { ...account, emailVerified: false });
  return { ...order, account };
}

const verify = (order: Order) =>
  events.send('account.updated.v1', { ...order.account, emailVerified: true }, { sequence: 2 });

/** The e-mails of an account as `kind state`, where `delayed` means that they wait for the verification. */
async function stateOf(order: Order): Promise<string[]> {
  const { rows } = await database().query<{ state: string }>(
    `SELECT kind || ' ' || CASE
       WHEN status = 'waiting' AND next_attempt_at = created_at + interval '168 hours' THEN 'delayed'
      ELSE status END AS state
     FROM notifications WHERE account_id = $1 ORDER BY created_at, kind`,
    [order.accountId],
  );
  return rows.map(({ state }) => state);
}

const becomes = (order: Order, ...states: string[]) =>
  eventually(async () => expect(await stateOf(order)).toEqual(states), 15_000);

const files = async (order: Order) =>
  (await readdir(services.mailFolder)).filter((file) => file.startsWith(order.orderId)).sort();

it('the notifications service withholds e-mails about orders until the address is verified', async () => {
  const order = await orderOfStranger();
  await events.send('order.created.v1', order.created);
  await becomes(order, 'order-received delayed');
  await events.send('order.shipped.v1', order.reference, { sequence: 2 });
  await becomes(order, 'order-received delayed', 'order-shipped delayed');
  expect(await files(order)).toEqual([]);
  await verify(order);
  await becomes(order, 'order-received sent', 'order-shipped sent');
  expect(await files(order)).toHaveLength(2);
});

it('the notifications service withholds e-mails when the order arrives before the account', async () => {
  const order = someOrder();
  await events.send('order.created.v1', order.created);
  await becomes(order, 'order-received waiting');
  await events.send('account.registered.v1', { ...order.account, emailVerified: false });
  await becomes(order, 'order-received delayed');
});

it('the notifications service sends only "order cancelled" when the order was cancelled meanwhile', async () => {
  const order = await orderOfStranger();
  await events.send('order.created.v1', order.created);
  await becomes(order, 'order-received delayed');
  await events.send('order.cancelled.v1', order.cancelled, { sequence: 2 });
  await eventually(async () => expect(await stateOf(order)).toContain('order-received obsolete'));
  await verify(order);
  await becomes(order, 'order-received obsolete', 'order-cancelled sent');
});

it('the notifications service sends only "order cancelled" when the order was paid and cancelled meanwhile', async () => {
  const order = await orderOfStranger();
  await events.send('order.created.v1', order.created);
  await becomes(order, 'order-received delayed');
  await events.send('order.paid.v1', order.paid, { sequence: 2 });
  await becomes(order, 'order-received delayed', 'order-paid delayed');
  await events.send('order.cancelled.v1', order.cancelled, { sequence: 3 });
  await becomes(order, 'order-received obsolete', 'order-paid obsolete', 'order-cancelled delayed');
  await verify(order);
  await becomes(order, 'order-received obsolete', 'order-paid obsolete', 'order-cancelled sent');
});

it('the notifications service stops trying after a week, and reports that the customer was not notified', async () => {
  const order = await orderOfStranger();
  await events.send('order.created.v1', order.created);
  await becomes(order, 'order-received delayed');
  await database().query(
    "UPDATE notifications SET created_at = now() - interval '8 days', next_attempt_at = now() WHERE account_id = $1",
    [order.accountId],
  );
  await becomes(order, 'order-received withheld');
  await eventually(() =>
    expect(events.told.filter(({ orderId }) => orderId === order.orderId)).toMatchObject([{ outcome: 'failed' }]),
  );
  await verify(order);
  const later = { ...order, ...someOrder(), account: order.account, accountId: order.accountId };
  await events.send('order.created.v1', { ...later.created, accountId: order.accountId });
  await becomes(order, 'order-received withheld', 'order-received sent');
});

it('the notifications service sends an e-mail whose address is verified while it is being withheld', async () => {
  const order = await orderOfStranger();
  await eventually(async () => {
    const { rows } = await database().query('SELECT FROM recipients WHERE account_id = $1', [order.accountId]);
    expect(rows).toHaveLength(1);
  });
  const verification = await database().connect();
  try {
    await verification.query('BEGIN');
    await verification.query('UPDATE recipients SET verified = true WHERE account_id = $1', [order.accountId]);
    await events.send('order.created.v1', order.created);
    await eventually(async () => expect(await lockWaits(database())).toBeGreaterThan(0));
    await verification.query('COMMIT');
  } finally {
    verification.release();
  }
  // The sender that read the address as unverified keeps its claim for a moment.
  await eventually(async () => expect(await stateOf(order)).toEqual(['order-received sent']), 45_000);
});

it('a withheld e-mail does not use up the rate limit of the verified owner of the address', async () => {
  const email = `${newId()}@example.org`;
  const stranger = someOrder();
  await events.send('account.registered.v1', { ...stranger.account, email, emailVerified: false });
  for (let count = 0; count < 30; count += 1) {
    const { created } = someOrder();
    await events.send('order.created.v1', { ...created, accountId: stranger.accountId });
  }
  await eventually(async () => expect(new Set(await stateOf(stranger))).toEqual(new Set(['order-received delayed'])));
  const { rows } = await database().query('SELECT FROM recipient_paces WHERE key = $1', [`order ${email}`]);
  expect(rows).toEqual([]);
});
