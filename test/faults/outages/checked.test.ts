// The checks of orders can fail: they find wrong orders, later changes of what was checked, and e-mails that are sent
// after it.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { withClient } from '@shop/shared/database';
import { newId } from '@shop/shared/runtime';
import { serviceNames } from '@shop/shared/shop';
import { createTestDatabase, type TestDatabase } from '@shop/shared/testing';
import pg from 'pg';
import { changedStates, keepStates, lateMails } from './checked.ts';
import { type Checked, violations } from './checker.ts';
import type { OrderOutcome } from './journal.ts';
import { prepareChecks } from './prepare-checks.ts';

let database: TestDatabase;
let shop: Checked;
let orderId: string;
beforeEach(async () => {
  database = await createTestDatabase(serviceNames);
  const admin = new pg.Pool({ connectionString: database.adminUrl, options: '-c search_path=orders' });
  admin.on('error', () => {});
  shop = {
    admin,
    mailFolder: mkdtempSync(join(tmpdir(), 'shop-checked-')),
    catalogueClient: (use) => withClient({ url: database.urls.catalogue }, use),
  };
  await prepareChecks(admin);
  orderId = newId();
  await admin.query(
    `INSERT INTO orders (id, account_id, reservation_id, status, currency, total_minor)
     VALUES ($1, $1, $1, 'pending', 'EUR', 100)`,
    [orderId],
  );
});
afterEach(async () => {
  rmSync(shop.mailFolder, { recursive: true });
  await shop.admin.end();
  await database.drop();
});

it('the check of orders finds an order whose state has changed since it was checked', async () => {
  await keepStates(shop);
  expect(await changedStates(shop.admin)).toEqual([]);
  await shop.admin.query("UPDATE orders SET status = 'processing'");
  expect(await changedStates(shop.admin)).toEqual([`order or account ${orderId} has changed since it was checked`]);
});

it('the check of orders finds an order that was deleted since it was checked', async () => {
  await keepStates(shop);
  await shop.admin.query('DELETE FROM orders');
  expect(await changedStates(shop.admin)).toEqual([`order or account ${orderId} has changed since it was checked`]);
});

it('the check of orders finds an e-mail that is sent after its order was checked, also with the name of an earlier one', async () => {
  const file = join(shop.mailFolder, `${orderId}.order-received.eml`);
  writeFileSync(file, 'Received');
  expect(await lateMails(shop)).toEqual([]);
  await keepStates(shop);
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, 'Received');
  const found = await violations(shop, { answers: [], orders: [], accounts: [] }, new Map());
  expect(found).toEqual([`an e-mail about order ${orderId} was sent after it was checked`]);
});

/** What the checks find about an order of two units, changed by a statement, whose customer got these replies. */
async function foundFor(change: string, replies: Partial<OrderOutcome>): Promise<string[]> {
  const productId = newId();
  await shop.admin.query(
    `INSERT INTO order_lines (order_id, account_id, position, product_id, name, quantity, unit_price_minor, line_total_minor)
     VALUES ($1, $1, 0, $2, 'Product', 2, 50, 100)`,
    [orderId, productId],
  );
  await shop.admin.query(change);
  const lines = [{ productId, quantity: 2 }];
  const outcome = { key: 'key', accountId: orderId, orderId, lines, ...replies };
  const found = await violations(shop, { answers: [], orders: [outcome], accounts: [] }, new Map());
  return found.map((text) => text.replaceAll(orderId, 'ID').replace(productId, 'PRODUCT'));
}

const cancel = `UPDATE orders SET status = 'cancelled', cancelled_at = now(), stock_released = 'pending',
  customer_notified = 'pending'`;
const cancelUnits = (units: number): string => `UPDATE order_lines SET cancelled_quantity = ${units}`;

/** Adds an e-mail about the order, with the second in which it was added. */
const addEmail = (kind: string, status: string, second: number): string =>
  `INSERT INTO notifications.notifications
     (id, kind, order_id, account_id, details, request_id, status, created_at, settled_at)
   SELECT gen_random_uuid(), '${kind}', id, id, '{}', 'request', '${status}', timestamptz '2026-11-27' + interval '${second} s',
     CASE WHEN '${status}' <> 'waiting' THEN timestamptz '2026-11-27' + interval '9 s' END FROM orders`;
const addDiscount = (uses: number): string => `
  INSERT INTO pricing_settings (id, kind, version, body)
    SELECT id, 'discount', 1, '{"name": "Summer", "uses": ${uses}}' FROM orders;
  INSERT INTO discount_uses (discount_id, account_id, used)
    SELECT id, '00000000-0000-0000-0000-000000000000', 1 FROM orders`;
const addInvoice = (kind: string, sequence: number): string => `
  INSERT INTO invoices (number, kind, year, sequence, order_id, account_id, body, issued_at)
    SELECT '${sequence}', '${kind}', 2026, ${sequence}, id, id, '{"total": 1}', now() FROM orders`;
const addReturn = `
  INSERT INTO returns (id, order_id, account_id, status, lines)
    SELECT order_id, order_id, order_id, 'received', json_build_array(json_build_object(
      'productId', product_id, 'quantity', 3, 'received', 3, 'restock', true)) FROM order_lines`;
const notReceived = 'order ID has 0 e-mails that say it was received';

it.each<[string, string, Partial<OrderOutcome>, string]>([
  ['has an obsolete e-mail without a cancellation', addEmail('order-received', 'obsolete', 1), {}, notReceived],
  [
    'has an obsolete e-mail from before its cancellation',
    `${cancel}; ${addEmail('order-received', 'obsolete', 1)}; ${addEmail('order-cancelled', 'waiting', 2)}`,
    { cancelled: 200 },
    notReceived,
  ],
  ['the shop cancelled by itself', cancel, {}, 'order ID is cancelled, and its customer did not ask'],
  [
    'the shop cancelled after the cancellation of one of its units',
    `${cancelUnits(1)}; ${cancel}`,
    { shortened: 200 },
    'order ID is cancelled, and its customer did not ask',
  ],
  [
    'was cancelled although this was refused',
    cancel,
    { cancelled: 409 },
    'order ID is cancelled, and its customer got 409',
  ],
  ['lost a unit twice', cancelUnits(2), { shortened: 200 }, 'order ID has 2 cancelled units instead of 1'],
  ['lost a unit without a request', cancelUnits(1), {}, 'order ID has 1 cancelled units instead of 0'],
  ['kept a cancelled unit', cancelUnits(0), { shortened: 200 }, 'order ID has 0 cancelled units instead of 1'],
  [
    'was paid exactly, which was refused as another amount',
    cancelUnits(0),
    { paid: 409 },
    'received key of order ID was answered 409',
  ],
  [
    'costs something else than its units',
    'UPDATE orders SET total_minor = 99',
    {},
    'order ID is pending, and its total is 99 instead of 100',
  ],
  [
    'shipped without a request',
    "UPDATE orders SET status = 'shipped'",
    {},
    'order ID is shipped, and its shipment was answered undefined',
  ],
  [
    'shipped without an invoice',
    "UPDATE orders SET status = 'shipped'",
    { shipped: 200 },
    'order ID is shipped and has the documents "" instead of "invoice of 100"',
  ],
  [
    'has an invoice and has not shipped',
    addInvoice('invoice', 1),
    {},
    'order ID is pending and has the documents "invoice of 100" instead of ""',
  ],
  [
    'has no invoice with the number 1',
    addInvoice('invoice', 2),
    {},
    'a series of invoices has a gap or a number twice: ' +
      '{"kind":"invoice","year":2026,"last":null,"documents":1,"numbers":1,"first":2,"greatest":2}',
  ],
  [
    'left a use of a discount behind',
    addDiscount(1),
    {},
    'discount Summer of account 00000000-0000-0000-0000-000000000000 has 1 uses of at most 1, and 0 orders use it',
  ],
  [
    'uses a discount beyond its bound',
    `${addDiscount(0)}; UPDATE orders SET pricing = json_build_object('discounts', json_build_array(
      json_build_object('id', id)), 'rates', '{}'::int[], 'taxes', 'off', 'lines', json_build_array(json_build_object(
      'unitPriceMinor', 50, 'quantity', 2, 'shipped', true, 'discountsMinor', array[0], 'taxMinor', 0)))`,
    {},
    'discount Summer of account 00000000-0000-0000-0000-000000000000 has 1 uses of at most 0, and 1 orders use it',
  ],
  [
    'has more units in returns than shipped',
    addReturn,
    {},
    'order ID has returns of 3 units of PRODUCT, and 2 shipped',
  ],
  ['has a return whose units are not shown', addReturn, {}, 'order ID has 0 returned units of PRODUCT instead of 3'],
  [
    'has a return whose units did not go into the stock',
    addReturn,
    {},
    'order ID has a return ID whose units for the stock are null',
  ],
  ['has a return without an event', addReturn, {}, 'order ID has a return ID with the events '],
  [
    'has a return that nobody requested',
    addReturn,
    {},
    'return ID was answered as undefined, and is stored as ["received",[["PRODUCT",3,3,true]]]',
  ],
])('the check of orders finds an order that %s', async (_, change, replies, violation) => {
  expect(await foundFor(change, replies)).toContain(violation);
});

it('the check of orders finds nothing wrong about an obsolete e-mail that was added after the one about the cancellation', async () => {
  const emails = `${addEmail('order-received', 'obsolete', 2)}; ${addEmail('order-cancelled', 'sent', 1)}`;
  expect(await foundFor(`${cancel}; ${emails}`, { cancelled: 200 })).not.toContain(notReceived);
});

it('the check of orders finds nothing wrong about an order that is cancelled because its account is erased', async () => {
  const erase = `INSERT INTO erased_accounts (account_id) VALUES ('${orderId}')`;
  expect(await foundFor(`${cancel}; ${erase}`, {})).not.toContain(
    'order ID is cancelled, and its customer did not ask',
  );
});
