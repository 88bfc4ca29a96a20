// Requests and steps of returns race with each other. No unit is returned twice, and refund and stock follow one
// outcome.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { connectTestTransport, eventually } from '@shop/shared/testing';
import { verifyStock } from '../../catalogue/src/operator/index.ts';
import { booksOf } from './payment-books.ts';
import { type ReturningShop, returningShop } from './returned-orders.ts';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;
let returns: ReturningShop;

beforeAll(async () => {
  shop = await startShop({ environment: { PAYMENTS: 'required', HOLD_ORDERS: '0', HOLD_UNITS: '0' } });
  customer = await shop.customer();
  returns = returningShop(shop, customer);
});
afterAll(() => shop.stop());

const book = () => shop.services.service('orders').database;
const stockFaults = async () => (await verifyStock({ DATABASE_URL: shop.services.database.urls.catalogue })).faults;

it('of 20 concurrent requests for the last unit exactly one is accepted', async () => {
  const cup = await shop.product({ stock: 5 });
  const orderId = await returns.ordered({ [cup]: 1 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => returns.request(customer, orderId, { [cup]: 1 })));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
  for (const { status, body } of answers) if (status === 409) expect(body.code).toBe('units-not-in-order');
});

it('a withdrawal and a receipt that race have one winner, which refund and stock follow', async () => {
  const rounds = Array.from({ length: 12 }, (_, round) => round);
  const outcomes = await Promise.all(
    rounds.map(async (round) => {
      const cup = await shop.product({ stock: 5, price: 3 });
      const orderId = await returns.ordered({ [cup]: 1 });
      await eventually(async () => expect((await shop.stockOf(cup)).stock).toBe(4));
      const id = await returns.requested(orderId, { [cup]: 1 });
      const acts = [() => returns.act(customer, id, 'withdraw'), () => returns.receive(id, { [cup]: 1 })];
      if (round % 2 === 1) acts.reverse();
      const statuses = (await Promise.all(acts.map((act) => act()))).map(({ status }) => status);
      return { cup, orderId, id, statuses };
    }),
  );
  for (const { cup, orderId, id, statuses } of outcomes) {
    expect(statuses.sort()).toEqual([200, 409]);
    const { status } = (await returns.view(customer, id)).body;
    const isReceived = status === 'received';
    expect(isReceived || status === 'withdrawn').toBe(true);
    const { owed, faults } = await booksOf(book(), [orderId]);
    expect({ owed, faults }).toEqual({ owed: isReceived ? 300 : 0, faults: [] });
    if (isReceived) await eventually(async () => expect((await shop.stockOf(cup)).stock).toBe(5));
    else expect((await shop.stockOf(cup)).stock).toBe(4);
  }
  expect(await stockFaults()).toEqual([]);
});

it('concurrent receipts of one return count once', async () => {
  const cup = await shop.product({ stock: 5, price: 3 });
  const orderId = await returns.ordered({ [cup]: 2 });
  const id = await returns.requested(orderId, { [cup]: 2 });
  const answers = await Promise.all(Array.from({ length: 8 }, () => returns.receive(id, { [cup]: 2 })));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(await booksOf(book(), [orderId])).toMatchObject({ owed: 600, faults: [] });
  await eventually(async () => expect((await shop.stockOf(cup)).stock).toBe(5));
  expect(await stockFaults()).toEqual([]);
});

it('an event about received units that is delivered twice adds the units once', async () => {
  const cup = await shop.product({ stock: 5 });
  const orderId = await returns.ordered({ [cup]: 1 });
  await eventually(async () => expect((await shop.stockOf(cup)).stock).toBe(4));
  const id = await returns.requested(orderId, { [cup]: 1 });
  await returns.receive(id, { [cup]: 1 });
  await eventually(async () =>
    expect((await returns.view(customer, id)).body).toMatchObject({ stockReturned: { state: 'done' } }),
  );
  const { rows } = await book().query(
    `UPDATE outbox SET published_at = NULL, next_attempt_at = now() WHERE subject = $1 AND type = 'return.received.v1'
     RETURNING id`,
    [id],
  );
  const published = async () =>
    (await book().query('SELECT FROM outbox WHERE id = $1 AND published_at IS NOT NULL', [rows[0]?.id])).rows;
  await eventually(async () => expect(await published()).toHaveLength(1));
  // Another return, whose event is published later, shows that the catalogue has handled the repeated one.
  const next = await returns.requested(await returns.ordered({ [cup]: 1 }), { [cup]: 1 });
  await returns.receive(next, { [cup]: 1 });
  await eventually(async () =>
    expect((await returns.view(customer, next)).body).toMatchObject({ stockReturned: { state: 'done' } }),
  );
  await eventually(async () => expect((await shop.stockOf(cup)).stock).toBe(5));
  const { rows: movements } = await shop.services
    .service('catalogue')
    .database.query("SELECT quantity FROM stock_ledger WHERE product_id = $1 AND reason LIKE 'return %'", [cup]);
  expect(movements).toEqual([{ quantity: 1 }, { quantity: 1 }]);
  const transport = await connectTestTransport(shop.services.database.urls.events);
  expect(await transport.deadLetters('catalogue.inventory', 10)).toEqual([]);
  await transport.close();
});
