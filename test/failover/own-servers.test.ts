// Asynchronous failovers of two servers: one of accounts and the catalogue, and one of orders and notifications. Each
// time, the services on the other server know what was lost.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { inProgress, repairedTextsOf, textsOf } from './losses.ts';
import { type Customer, type FailoverShop, startFailoverShop } from './shop.ts';

let shop: FailoverShop;
let ada: Customer;
let ben: Customer;
let productId: string;
let rareId: string;
const names: Record<string, string> = {};
const named = (id: string, name: string): string => {
  names[id] = name;
  return id;
};
const lostAccount = 'failed lost account: account cy does not exist, but other services know it';

beforeAll(async () => {
  shop = await startFailoverShop(['accounts', 'catalogue']);
  [ada, ben] = [await shop.customer('ada'), await shop.register('ben')];
  named(ada.accountId, 'ada');
  named(ben.accountId, 'ben');
  productId = await shop.product(100);
  rareId = named(await shop.product(1), 'rare');
});
afterAll(() => shop.stop());

const order = async (name: string, product = productId, quantity = 1): Promise<string> =>
  named(await shop.order(ada, product, quantity), name);

async function untilCompared(): Promise<void> {
  await shop.untilHandled();
  await sleep(inProgress);
}

/** Erases an account now instead of after days. */
async function erase({ accountId }: Customer): Promise<void> {
  expect(await shop.run('accounts', 'erase', accountId, '--days', '0')).toMatchObject({ code: 0 });
  const { database } = shop.service('accounts');
  await database.query("UPDATE accounts SET erase_at = erase_at - interval '2 hours' WHERE id = $1", [accountId]);
  await eventually(async () => {
    const { rowCount } = await database.query('SELECT FROM accounts WHERE id = $1', [accountId]);
    expect(rowCount).toBe(0);
  }, 30_000);
}

it('repairs lost reservations, effects and changes of accounts, and names what it cannot repair', async () => {
  const server = shop.server('catalogue');
  const orders = shop.service('orders').database;
  const cancelled = await order('cancelled');
  const twice = await order('twice');
  const dee = await shop.customer('dee');
  named(dee.accountId, 'dee');
  await shop.untilHandled();
  // The event is in the replicated outbox, and the mark that it was published is not.
  const publish = await server.hold("SELECT pg_advisory_xact_lock(hashtextextended('outbox:catalogue', 0))");
  await shop.act(twice, 'cancel', ada);
  await server.untilReplicated('SELECT FROM catalogue.outbox WHERE subject = $1', [twice]);
  await server.beginLoss();
  await publish();
  await order('unreserved', productId, 2);
  const sold = await order('sold', rareId);
  await shop.act(cancelled, 'cancel', ada);
  await shop.verify(ben);
  const cy = await shop.customer('cy');
  named(cy.accountId, 'cy');
  await erase(dee);
  await shop.untilHandled();
  const stateOf = async (id: string) =>
    (await orders.query('SELECT version, stock_released, stock_released_at FROM orders WHERE id = $1', [id])).rows[0];
  const released = await stateOf(twice);
  expect(released).toMatchObject({ stock_released: 'done' });
  await server.failOver();

  await shop.untilReady();
  await order('resold', rareId);
  await untilCompared();
  expect(await stateOf(twice)).toEqual(released);
  const again = await shop
    .service('catalogue')
    .database.query('SELECT FROM outbox WHERE subject = $1 AND published_at IS NOT NULL', [twice]);
  expect(again.rowCount).toBe(1);

  const repairable = [
    'lost account change: account ben has version 1, but other services know version 2',
    'lost effect: catalogue.inventory has not handled order.cancelled.v1 about cancelled',
    'lost reservation: order unreserved is pending, and the catalogue has no reservation ID',
  ];
  const lostErasure = 'failed lost erasure: account dee exists, but other services have erased its data';
  const refused = 'lost reservation: order sold is pending, and the catalogue has no reservation ID';
  expect(textsOf(await shop.doctor(), names)).toEqual(
    [lostAccount, lostErasure, ...[...repairable, refused].map((loss) => `failed ${loss}`)].sort(),
  );
  // The event about the order without a reservation is found when the reservation exists again.
  const created = 'lost effect: catalogue.inventory has not handled order.created.v1 about unreserved';
  expect(textsOf(await shop.doctor('--repair'), names)).toEqual(
    [
      lostAccount,
      lostErasure,
      `failed ${refused}: product rare: 1 requested, 0 available`,
      ...repairedTextsOf([...repairable, created]),
    ].sort(),
  );
  expect(await shop.run('orders', 'cancel', sold, '--reason', 'Sold out')).toMatchObject({ code: 0 });
  await erase(dee);
  await untilCompared();
  expect(textsOf(await shop.doctor(), names)).toEqual([lostAccount]);
  expect(await shop.run('stock', 'verify')).toMatchObject({ code: 0 });
  expect(await stockOf(productId)).toEqual({ stock: 100, reserved: 2 });
  expect(await stockOf(rareId)).toEqual({ stock: 1, reserved: 1 });
  // Notifications had handled the event before the failover, and does not get it again.
  const deliveries = shop
    .service('notifications')
    .output()
    .split('\n')
    .filter((line) => ['"outcome"', 'order.cancelled.v1', cancelled].every((part) => line.includes(part)));
  expect(deliveries.map((line) => /"outcome":"(\w+)"/.exec(line)?.[1])).toEqual(['taken']);
  await shop.verify(ben);
  await eventually(async () => {
    const { rows } = await shop
      .service('notifications')
      .database.query('SELECT verified FROM recipients WHERE account_id = $1', [ben.accountId]);
    expect(rows).toEqual([{ verified: true }]);
  });
}, 600_000);

async function stockOf(id: string): Promise<object | undefined> {
  const { database } = shop.service('catalogue');
  return (await database.query<object>('SELECT stock, reserved FROM products WHERE id = $1', [id])).rows[0];
}

it('repairs lost orders and cancellations, and names lost shipments and steps', async () => {
  const server = shop.server('orders');
  const before = await stockOf(productId);
  const shipped = await order('shipped');
  await shop.act(shipped, 'process');
  const cancelled = await order('cancelled later');
  const processed = await order('processed');
  await shop.untilHandled();
  await server.untilReplicated("SELECT FROM orders.orders WHERE id = $1 AND status = 'processing'", [shipped]);
  await server.untilReplicated('SELECT FROM notifications.inbox WHERE subject = $1', [cancelled]);
  await server.beginLoss();
  await order('vanished', productId, 3);
  const left = await order('left');
  await shop.act(left, 'process');
  for (const id of [left, shipped]) await shop.act(id, 'ship');
  await shop.act(cancelled, 'cancel', ada);
  await shop.act(processed, 'process');
  await shop.untilHandled();
  await server.failOver();

  await shop.untilReady();
  await untilCompared();
  const decisions = [
    lostAccount,
    'failed lost shipment: order shipped is processing, but other services know that it was shipped',
    'failed lost step: order processed is pending, but other services know that it was processed',
  ];
  const losses = [
    'lost cancellation: order cancelled later is pending, but other services know its cancellation, and its stock is released',
    'lost effect: orders.effects has not handled stock.released.v1 about cancelled later',
    'lost order: order left of account ada does not exist, and its stock is shipped',
    'lost order: order vanished of account ada does not exist, and its stock is confirmed',
  ];
  expect(textsOf(await shop.doctor(), names)).toEqual([...decisions, ...losses.map((loss) => `failed ${loss}`)].sort());
  const repaired = repairedTextsOf(losses).map((text) =>
    text.includes('order left') ? text.replace('its stock is released', 'it has no reserved stock') : text,
  );
  expect(textsOf(await shop.doctor('--repair'), names)).toEqual([...decisions, ...repaired].sort());
  expect(await shop.run('orders', 'ship', shipped)).toMatchObject({ code: 0 });
  expect(await shop.run('orders', 'process', processed)).toMatchObject({ code: 0 });
  await untilCompared();
  expect(textsOf(await shop.doctor(), names)).toEqual([lostAccount]);
  expect(await shop.run('stock', 'verify')).toMatchObject({ code: 0 });
  expect(before).toEqual({ stock: 100, reserved: 2 });
  expect(await stockOf(productId)).toEqual({ stock: 98, reserved: 3 });
  const effects = 'SELECT status, stock_released, customer_notified FROM orders WHERE id = $1';
  const { rows } = await shop.service('orders').database.query(effects, [cancelled]);
  expect(rows).toEqual([{ status: 'cancelled', stock_released: 'done', customer_notified: 'done' }]);
}, 600_000);
