// Later changes of what was checked are found, and e-mails that are sent after it.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { withClient } from '@shop/shared/database';
import { newId, serviceNames } from '@shop/shared/runtime';
import { createTestDatabase, type TestDatabase } from '@shop/shared/testing';
import pg from 'pg';
import { changedStates, keepStates, lateMails } from './checked.ts';
import { type Checked, violations } from './checker.ts';
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

it('finds an order whose state has changed since it was checked', async () => {
  await keepStates(shop);
  expect(await changedStates(shop.admin)).toEqual([]);
  await shop.admin.query("UPDATE orders SET status = 'processing'");
  expect(await changedStates(shop.admin)).toEqual([`order or account ${orderId} has changed since it was checked`]);
});

it('finds an order that was deleted since it was checked', async () => {
  await keepStates(shop);
  await shop.admin.query('DELETE FROM orders');
  expect(await changedStates(shop.admin)).toEqual([`order or account ${orderId} has changed since it was checked`]);
});

it('finds an e-mail that is sent after its order was checked, also with the name of an earlier one', async () => {
  const file = join(shop.mailFolder, `${orderId}.order-received.eml`);
  writeFileSync(file, 'Received');
  expect(await lateMails(shop)).toEqual([]);
  await keepStates(shop);
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, 'Received');
  const found = await violations(shop, { answers: [], orders: [], accounts: [] }, new Map());
  expect(found).toEqual([`an e-mail about order ${orderId} was sent after it was checked`]);
});
