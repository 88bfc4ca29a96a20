// Orders that were finished long ago, for the tests of the archive.
import { newId } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { eventually } from '@shop/shared/testing';
import { archiveOrders } from '../src/archive-orders.ts';
import { restoreOrders } from '../src/restore-orders.ts';
import type { Customer, TestShop } from './shop.ts';

const tables = ['order_lines', 'order_history', 'order_payments', 'payment_ledger'];

export interface Place {
  readonly live: number;
  readonly archived: number;
}

export function openArchive(shop: TestShop, payer: Customer) {
  const { database } = shop.services.service('orders');
  const environment = { DATABASE_URL: shop.services.database.urls.orders, SHOP_CURRENCY: 'EUR' };

  const pay = (id: string, amount: number, reference = newId()) =>
    shop.act(payer, id, 'payments', { body: { reference, amount, currency: 'EUR' } });

  return {
    database,
    environment,
    pay,
    refund: (id: string, amount: number, reference = newId()) =>
      shop.act(payer, id, 'refunds', { body: { reference, amount, currency: 'EUR' } }),

    /** Places and delivers an order of 10 units at 5.00, of which 2 were cancelled. */
    async delivered(customer: Customer, product: string): Promise<string> {
      const { body } = await shop.order(customer, { [product]: 10 });
      const lines = [{ productId: product, quantity: 2 }];
      await shop.act(customer, body.id, 'cancel', { body: { lines, cancellation_reason: 'too many' } });
      await shop.act(shop.staff, body.id, 'process');
      await shop.act(shop.staff, body.id, 'ship', { body: { carrier: 'Pigeon Post', tracking_number: '17' } });
      expectStatus(await shop.act(shop.staff, body.id, 'deliver'));
      await eventually(async () => {
        const history = await shop.orders.get(`/v1/orders/${body.id}/history`, { token: customer.token });
        if (history.body.items[1]?.stockReleased?.state !== 'done') throw new Error('the stock is not released');
      }, 20_000);
      return body.id;
    },

    async cancelled(customer: Customer, product: string): Promise<string> {
      const { body } = await shop.order(customer, { [product]: 1 });
      const reason = { cancellation_reason: 'changed, "my",null] mind' };
      expectStatus(await shop.act(customer, body.id, 'cancel', { body: reason }));
      await eventually(async () => {
        const state = (await shop.view(customer, body.id)).body.cancellation?.stockReleased?.state;
        if (state !== 'done') throw new Error(`the stock is ${state}`);
      }, 20_000);
      return body.id;
    },

    /** Makes the orders old, and all their effects done. */
    async age(ids: readonly string[], days = 400): Promise<void> {
      await database.query(
        `UPDATE orders SET created_at = created_at - $2 * interval '1 day',
           updated_at = updated_at - $2 * interval '1 day',
           customer_notified = CASE WHEN customer_notified IS NOT NULL THEN 'done' END,
           customer_notified_at = CASE WHEN customer_notified IS NOT NULL THEN now() END
         WHERE id = ANY ($1::uuid[])`,
        [ids, days],
      );
      await database.query(
        `UPDATE order_history SET at = at - $2 * interval '1 day',
           stock_released = CASE WHEN stock_released IS NOT NULL THEN 'failed' END,
           customer_notified = CASE WHEN customer_notified IS NOT NULL THEN 'done' END,
           customer_notified_at = CASE WHEN customer_notified IS NOT NULL THEN now() END
         WHERE order_id = ANY ($1::uuid[])`,
        [ids, days],
      );
    },

    /** Archives orders, even on the first day after the migration. */
    archive: (days = 365): Promise<number> =>
      withDatabase({ url: environment.DATABASE_URL, name: 'archive orders' }, (orders) => archiveOrders(orders, days)),

    /** Restores the orders and changes nothing else. */
    async restore(ids: readonly string[]): Promise<void> {
      await withDatabase({ url: environment.DATABASE_URL, name: 'tests' }, (orders) =>
        orders.transaction((tx) => restoreOrders(tx, ids, undefined)),
      );
    },

    /** All rows of the orders, by table. */
    async allRows(ids: readonly string[]): Promise<Record<string, unknown[]>> {
      const read = async (table: string, column: string) =>
        (
          await database.query(
            `SELECT to_jsonb(${table}) AS row FROM ${table} WHERE ${column} = ANY ($1::uuid[]) ORDER BY 1`,
            [ids],
          )
        ).rows;
      const found: Record<string, unknown[]> = { orders: await read('orders', 'id') };
      for (const table of tables) found[table] = await read(table, 'order_id');
      return found;
    },

    async placeOf(id: string): Promise<Place> {
      const { rows } = await database.query(
        `SELECT (SELECT count(*)::int FROM orders WHERE id = $1) AS live,
           (SELECT count(*)::int FROM archived_orders WHERE id = $1) AS archived`,
        [id],
      );
      return rows[0];
    },

    /** The number of rows of the order in the other tables. */
    async rowsOf(id: string): Promise<number> {
      const counts = tables.map((table) => `(SELECT count(*)::int FROM ${table} WHERE order_id = $1)`);
      return (await database.query(`SELECT ${counts.join(' + ')} AS rows`, [id])).rows[0]?.rows;
    },
  };
}

export type Archive = ReturnType<typeof openArchive>;

function expectStatus({ status, body }: { readonly status: number; readonly body: unknown }): void {
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
}
