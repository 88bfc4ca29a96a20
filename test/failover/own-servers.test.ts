// Asynchronous failovers of two servers: one of accounts and the catalogue, and one of orders and notifications. Each
// time, the services on the other server know what was lost.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { restoreReservation } from '@shop/catalogue/operator';
import { newId } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { inProgress, repairedTextsOf, textsOf } from './losses.ts';
import { type Customer, type FailoverShop, startFailoverShop } from './shop.ts';

let shop: FailoverShop;
let ada: Customer;
let ben: Customer;
let productId: string;
let rareId: string;
let racedId: string;
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
  racedId = await shop.product(5);
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
  const raced = await order('raced', racedId, 2);
  const shortened = await order('shortened', racedId, 2);
  const forgotten = await order('forgotten', racedId);
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
  await shop.act(forgotten, 'cancel', ada);
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
  const cancelledMeanwhile = ['raced', 'shortened'].map(
    (name) => `lost reservation: order ${name} is pending, and the catalogue has no reservation ID`,
  );
  const lostErasure = 'failed lost erasure: account dee exists, but other services have erased its data';
  const refused = 'lost reservation: order sold is pending, and the catalogue has no reservation ID';
  expect(textsOf(await shop.doctor(), names)).toEqual(
    [
      lostAccount,
      lostErasure,
      ...[...repairable, ...cancelledMeanwhile, refused].map((loss) => `failed ${loss}`),
    ].sort(),
  );
  // The event about the order without a reservation is found when the reservation exists again.
  const created = ['raced', 'shortened', 'unreserved'].map(
    (name) => `lost effect: catalogue.inventory has not handled order.created.v1 about ${name}`,
  );
  // The customer cancels orders, and the catalogue handles this, after the comparison and before the repair.
  const repairs = await server.hold(`SELECT FROM catalogue.products WHERE id = '${racedId}' FOR UPDATE`);
  const repairing = shop.doctor('--repair');
  await eventually(async () => {
    const { rows } = await server.admin.query(
      "SELECT FROM pg_stat_activity WHERE application_name = 'doctor' AND wait_event_type = 'Lock'",
    );
    expect(rows).toHaveLength(1);
  }, 60_000);
  await shop.act(raced, 'cancel', ada);
  await shop.act(shortened, 'cancel', ada, { lines: [{ productId: racedId, quantity: 1 }] });
  await shop.untilHandled();
  await repairs();
  expect(textsOf(await repairing, names)).toEqual(
    [
      lostAccount,
      lostErasure,
      `failed ${refused}: product rare: 1 requested, 0 available`,
      `ok ${cancelledMeanwhile[0]}: it was cancelled meanwhile, and needs none`,
      ...repairedTextsOf([...repairable, ...created, ...cancelledMeanwhile.slice(1)]),
    ].sort(),
  );
  expect(await stockOf(racedId)).toEqual({ stock: 5, reserved: 1 });
  expect(await shop.run('orders', 'cancel', sold, '--reason', 'Sold out')).toMatchObject({ code: 0 });
  await erase(dee);
  await untilCompared();
  expect(textsOf(await shop.doctor(), names)).toEqual([lostAccount]);
  expect(await shop.run('stock', 'verify')).toMatchObject({ code: 0 });
  expect(await stockOf(productId)).toEqual({ stock: 100, reserved: 2 });
  expect(await stockOf(rareId)).toEqual({ stock: 1, reserved: 1 });
  // A repair that ended before it read the order again.
  const catalogue = { DATABASE_URL: shop.service('catalogue').database.options.connectionString };
  const { rows: lost } = await orders.query(
    'SELECT id AS "orderId", account_id AS "accountId", reservation_id AS "reservationId" FROM orders WHERE id = $1',
    [forgotten],
  );
  await restoreReservation(catalogue, lost[0], [{ productId: racedId, quantity: 1 }], 'Interrupted.');
  expect(await stockOf(racedId)).toEqual({ stock: 5, reserved: 2 });
  const keptStock = 'kept stock: order forgotten is cancelled, and its stock is still reserved';
  expect(textsOf(await shop.doctor('--repair'), names)).toEqual([
    lostAccount,
    `ok ${keptStock}: it is released`,
    ...repairedTextsOf(['lost effect: catalogue.inventory has not handled order.created.v1 about forgotten']),
  ]);
  expect(await stockOf(racedId)).toEqual({ stock: 5, reserved: 1 });
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
  // An event about a lost order was handled first, and the order that repeats it has the same reservation.
  const handle = await shop.server('catalogue').hold('LOCK TABLE catalogue.inbox IN EXCLUSIVE MODE');
  const repeated = await order('repeated', racedId);
  const original = named(newId(), 'original');
  await shop
    .server('catalogue')
    .admin.query("UPDATE catalogue.reservations SET state = 'confirmed', order_id = $1 WHERE state = 'held'", [
      original,
    ]);
  await handle();
  const shipped = await order('shipped');
  await shop.act(shipped, 'process');
  const cancelled = await order('cancelled later');
  const processed = await order('processed');
  const recalled = await order('recalled');
  await shop.act(recalled, 'process');
  await shop.untilHandled();
  await server.untilReplicated("SELECT FROM orders.orders WHERE id = $1 AND status = 'processing'", [recalled]);
  await server.untilReplicated('SELECT FROM notifications.inbox WHERE subject = $1', [cancelled]);
  await server.beginLoss();
  await order('vanished', productId, 3);
  const left = await order('left');
  await shop.act(left, 'process');
  for (const id of [left, shipped, recalled]) await shop.act(id, 'ship');
  await shop.act(cancelled, 'cancel', ada);
  await shop.act(processed, 'process');
  await shop.untilHandled();
  await server.failOver();

  await shop.untilReady();
  await shop.act(recalled, 'cancel', ada);
  await untilCompared();
  const lostRecalled = 'failed lost shipment: order recalled is cancelled, but other services know that it was shipped';
  const decisions = [
    lostAccount,
    lostRecalled,
    'failed lost shipment: order shipped is processing, but other services know that it was shipped',
    'failed lost step: order processed is pending, but other services know that it was processed',
  ];
  const losses = [
    'lost cancellation: order cancelled later is pending, but other services know its cancellation, and its stock is released',
    'lost effect: orders.effects has not handled stock.released.v1 about cancelled later',
    'lost order: order left of account ada does not exist, and its stock is shipped',
    'lost order: order vanished of account ada does not exist, and its stock is confirmed',
  ];
  const shared =
    'lost order: order original of account ada does not exist, and its reservation belongs to order repeated';
  const dead =
    'failed dead letter: catalogue.inventory could not handle order.created.v1 about repeated: PoisonError: order repeated has no stock: reservation ID is confirmed';
  expect(textsOf(await shop.doctor(), names)).toEqual(
    [...decisions, dead, ...[...losses, shared].map((loss) => `failed ${loss}`)].sort(),
  );
  const repaired = repairedTextsOf(losses).map((text) =>
    text.includes('order left') ? text.replace('its stock is released', 'it has no reserved stock') : text,
  );
  const redelivered = 'lost effect: catalogue.inventory has not handled order.created.v1 about repeated';
  expect(textsOf(await shop.doctor('--repair'), names)).toEqual(
    [
      ...decisions,
      ...repaired,
      ...repairedTextsOf([redelivered]),
      `ok ${shared}: its stock belongs to order repeated, which repeats it; tell the customer that the order does not exist`,
    ].sort(),
  );
  expect(await shop.run('orders', 'ship', shipped)).toMatchObject({ code: 0 });
  expect(await shop.run('orders', 'process', processed)).toMatchObject({ code: 0 });
  await shop.act(repeated, 'cancel', ada);
  await untilCompared();
  expect(textsOf(await shop.doctor(), names)).toEqual([lostAccount, lostRecalled]);
  expect(await shop.run('stock', 'verify')).toMatchObject({ code: 0 });
  expect(await stockOf(racedId)).toEqual({ stock: 5, reserved: 1 });
  expect(before).toEqual({ stock: 100, reserved: 2 });
  expect(await stockOf(productId)).toEqual({ stock: 97, reserved: 3 });
  const effects = 'SELECT status, stock_released, customer_notified FROM orders WHERE id = $1';
  const { rows } = await shop.service('orders').database.query(effects, [cancelled]);
  expect(rows).toEqual([{ status: 'cancelled', stock_released: 'done', customer_notified: 'done' }]);
}, 600_000);
