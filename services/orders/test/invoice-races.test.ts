// The numbers of invoices while many orders ship at the same time and the process is killed.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { advanceOrders, verifyInvoices } from '../src/operator/index.ts';
import { type ReturningShop, returningShop } from './returned-orders.ts';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;
let returns: ReturningShop;
let mug: string;
const seller = { SELLER_NAME: 'Acme GmbH' };

beforeAll(async () => {
  shop = await startShop({ environment: { ...seller, HOLD_ORDERS: '0', HOLD_UNITS: '0' } });
  customer = await shop.customer();
  returns = returningShop(shop, customer);
  mug = await shop.product({ stock: 1_000 });
});
afterAll(() => shop.stop());

/** Repeats a request with the same key until it has an answer. */
async function untilShipped(orderId: string): Promise<void> {
  const headers = { 'Idempotency-Key': newId() };
  for (;;) {
    const answer = await shop.act(shop.staff, orderId, 'ship', { headers }).catch(() => undefined);
    if (answer?.status === 200) return;
  }
}

it('60 orders that ship at the same time, while orders is killed, have one invoice each without a gap', async () => {
  const ids = await Promise.all(Array.from({ length: 60 }, () => returns.ordered({ [mug]: 1 }, {}, 'paid')));
  await Promise.all(ids.map((id) => shop.act(shop.staff, id, 'process')));
  const unshipped = await returns.ordered({ [mug]: 1 }, {}, 'paid');
  const service = shop.services.service('orders');
  const environment = { ...seller, DATABASE_URL: shop.services.database.urls.orders };
  let isDone = false;
  const kills = (async () => {
    for (let time = 0; time < 3 && !isDone; time += 1) {
      await service.kill('SIGKILL');
      await service.restart();
    }
  })();
  // The process that is killed, and a second one as the command line runs it, ship at the same time.
  const byOperator = async (share: readonly string[]): Promise<void> => {
    for (const id of share) await advanceOrders(environment, 'shipped', [id], { allocate: async () => undefined });
  };
  await Promise.all([...ids.slice(0, 45).map(untilShipped), byOperator(ids.slice(45, 53)), byOperator(ids.slice(53))]);
  isDone = true;
  await kills;

  const { rows } = await service.database.query(
    'SELECT order_id AS id, sequence FROM invoices ORDER BY kind, year, sequence',
  );
  expect(rows.map(({ sequence }) => sequence)).toEqual(ids.map((_, index) => index + 1));
  expect(rows.map(({ id }) => id).sort()).toEqual([...ids].sort());
  expect(rows.map(({ id }) => id)).not.toContain(unshipped);
  const whole = { kind: 'invoice', last: 60, documents: 60, missing: [], isComplete: true };
  expect(await verifyInvoices(environment)).toMatchObject([whole]);
  await service.database.query('DELETE FROM invoices WHERE sequence = 7');
  const faulty = { ...whole, documents: 59, missing: [7], isComplete: false };
  expect(await verifyInvoices(environment)).toMatchObject([faulty]);
});
