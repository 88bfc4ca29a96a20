// Every event in the recordings in contracts/ has its effect in orders. The other services do not run.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Transport } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import { connectTestTransport, eventually, messageOf, recordedEvents } from '@shop/shared/testing';
import { type RecordedShop, startRecordedShop } from './recorded-shop.ts';

const recorded = recordedEvents({ consumer: 'orders' });
let shop: RecordedShop;
let transport: Transport;

beforeAll(async () => {
  shop = await startRecordedShop();
  transport = await connectTestTransport(shop.services.database.urls.events);
});
afterAll(async () => {
  await transport?.close();
  await shop?.stop();
});

/** Given → the statement that finds the effect, by account. */
const effects: Readonly<Record<string, string>> = {
  'Ada registers': "SELECT FROM customers WHERE account_id = $1 AND name = 'Ada Lovelace' AND phone_number IS NULL",
  'Ada changes her telephone number':
    "SELECT FROM customers WHERE account_id = $1 AND name = 'Ada Lovelace' AND phone_number = '+41 44 668 18 00'",
  'staff set the tax id of Ada': "SELECT FROM customers WHERE account_id = $1 AND tax_id ->> 'value' = 'ATU12345678'",
  'the account of Ada is erased': 'SELECT FROM erased_accounts WHERE account_id = $1',
  'an order was cancelled': "SELECT FROM orders WHERE account_id = $1 AND stock_released = 'done'",
  'the e-mail about a cancelled order is sent':
    "SELECT FROM orders WHERE account_id = $1 AND customer_notified = 'done'",
  'a lamp of an order was cancelled': "SELECT FROM order_history WHERE account_id = $1 AND stock_released = 'done'",
  'a lamp of an order came back': "SELECT FROM returns WHERE account_id = $1 AND stock_returned = 'done'",
  'the e-mail about a cancelled lamp is sent':
    "SELECT FROM order_history WHERE account_id = $1 AND customer_notified = 'done'",
};

it.each(recorded)('the orders service handles $type of $provider, given $given', async (event) => {
  const account = newId();
  shop.catalogue.given('two lamps and a chair are on hand');
  const order = (await shop.order(account)).body.id;
  const body = event.given.includes('lamp') ? { lines: [{ productId: shop.lamp, quantity: 1 }] } : undefined;
  expect((await shop.asCustomer(account, order, 'cancel', body)).status).toBe(200);
  const returned = newId();
  const { database } = shop.services.service('orders');
  await database.query(
    `INSERT INTO returns (id, order_id, account_id, status, lines, stock_returned)
     VALUES ($1, $2, $3, 'received', '[]', 'pending')`,
    [returned, order, account],
  );
  const email = 'ada@example.org';
  await transport.publish([messageOf(event, new Map(Object.entries({ account, order, email, return: returned })))]);
  await eventually(async () => {
    const { rows } = await database.query(effects[event.given] ?? '', [account]);
    expect(rows).toHaveLength(1);
  });
});
