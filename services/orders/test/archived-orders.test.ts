// The update from 1.1.0, which could move finished orders into an archive.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { knownMigrations, migrate } from '@shop/shared/database';
import { createTestDatabase, serviceFolder, type TestDatabase } from '@shop/shared/testing';
import pg from 'pg';

const folder = `${serviceFolder('orders')}/migrations`;
const [refusesNew, requiresNone] = ['0026_no_new_archive.sql', '0027_archive_is_empty.sql'];
const id = 'a0000000-0000-4000-8000-000000000001';
const document = {
  lines: [{ p: 1, i: id, n: 'Lamp', q: 3, u: 250, c: 1 }],
  history: [
    { v: 1, s: 'pending', a: 'customer', i: id, r: 'request-1', t: 1_760_000_000_000 },
    { v: 2, s: 'delivered', a: 'staff', i: id, r: 'request-2', t: 1_760_000_100_000 },
  ],
  payment: [{ s: 'paid', d: 1_760_000_000_000, p: 1_760_000_050_000, r: 0 }],
  movements: [{ e: id, k: 'received', f: 'payment-1', m: 750, c: 'order-paid', r: 'request-3', t: 1_760_000_050_000 }],
};

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase([]);
  client = new pg.Client({ connectionString: database.urls.orders });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

const update = (): Promise<string[]> => migrate({ url: database.urls.orders, folder });

const archiveOne = () =>
  client.query(
    `INSERT INTO archived_orders (id, account_id, reservation_id, status, version, currency, total_minor, created_at,
       updated_at, payment_references, document)
     VALUES ($1, $1, $1, 'delivered', 2, 'EUR', 500, now(), now(), '{received payment-1}', $2)`,
    [id, JSON.stringify(document)],
  );

/** What `orders restore --all` of 1.1.0 executes. */
const restore = `
  WITH restored AS (
    DELETE FROM archived_orders RETURNING *
  ), lines AS (
    INSERT INTO order_lines (order_id, account_id, position, product_id, name, quantity, unit_price_minor,
      line_total_minor, cancelled_quantity)
    SELECT id, account_id, part.* FROM restored, archived_lines(document) AS part
  ), history AS (
    INSERT INTO order_history (order_id, account_id, version, status, actor, actor_id, request_id, at, cancelled_lines,
      reason, stock_released, stock_released_at, customer_notified, customer_notified_at)
    SELECT id, account_id, part.* FROM restored, archived_history(document) AS part
  ), payments AS (
    INSERT INTO order_payments (order_id, account_id, status, due_at, paid_at, refund_due_minor, refund_due_since,
      refunded_minor)
    SELECT id, account_id, part.* FROM restored, archived_payment(document) AS part
  ), movements AS (
    INSERT INTO payment_ledger (order_id, account_id, id, kind, reference, amount_minor, cause, due_minor, actor_id,
      request_id, at)
    SELECT restored.id, account_id, part.* FROM restored, archived_movements(document) AS part
  )
  INSERT INTO orders (id, account_id, reservation_id, status, version, currency, total_minor, created_at, updated_at)
  SELECT id, account_id, reservation_id, status, version, currency, total_minor, created_at, updated_at FROM restored`;

it('the update waits until 1.1.0 has restored all archived orders, and 1.1.0 archives no further ones', async () => {
  const released = (await knownMigrations(folder)).filter((name) => ![refusesNew, requiresNone].includes(name));
  await migrate({ url: database.urls.orders, folder, only: released });
  await archiveOne();

  for (let attempt = 0; attempt < 2; attempt += 1) {
    await expect(update()).rejects.toThrow(
      /Orders in the archive, which this version does not have: 1\. .* with the command line of 1\.1\.0 \(npm run shop -- orders restore --all, or /,
    );
  }
  await expect(archiveOne()).rejects.toThrow('no_new_archive');

  await client.query(restore);
  expect(await update()).toEqual([requiresNone]);
  await expect(archiveOne()).rejects.toThrow('no_new_archive');
  const { rows } = await client.query(
    `SELECT status, name, quantity, cancelled_quantity AS cancelled, reference,
       (SELECT array_agg(status ORDER BY version) FROM order_history WHERE order_id = orders.id) AS history,
       (SELECT status FROM order_payments WHERE order_id = orders.id) AS payment
     FROM orders JOIN order_lines ON order_lines.order_id = orders.id
       JOIN payment_ledger ON payment_ledger.order_id = orders.id`,
  );
  expect(rows).toEqual([
    {
      ...{ status: 'delivered', name: 'Lamp', quantity: 3, cancelled: 1, reference: 'payment-1' },
      ...{ history: ['pending', 'delivered'], payment: 'paid' },
    },
  ]);
});
