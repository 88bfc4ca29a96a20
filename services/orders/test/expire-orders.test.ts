// Orders that are pending for too long are cancelled by the shop.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { verifyStock } from '../../catalogue/src/operator/index.ts';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;

beforeAll(async () => {
  shop = await startShop({ environment: { ORDER_PENDING_HOURS: '1' } });
  customer = await shop.customer();
});
afterAll(() => shop.stop());

const database = () => shop.services.service('orders').database;

async function placed(product: string): Promise<string> {
  const { status, body } = await shop.order(customer, { [product]: 1 });
  expect(status).toBe(201);
  return body.id;
}

async function age(ids: readonly string[], minutes: number): Promise<void> {
  await database().query(
    "UPDATE orders SET created_at = now() - $2 * interval '1 minute' WHERE id = ANY ($1::uuid[])",
    [ids, minutes],
  );
}

async function cancellations(id: string): Promise<{ cancelledBy: string; reason: string | null }[]> {
  const { rows } = await database().query(
    "SELECT data FROM outbox WHERE subject = $1 AND type = 'order.cancelled.v1'",
    [id],
  );
  return rows.map(({ data }) => data);
}

it('the expiry job cancels pending orders with the reason "expired", records the actor, and releases the stock', async () => {
  const product = await shop.product();
  const [old, young, begun] = [await placed(product), await placed(product), await placed(product)];
  await shop.act(shop.staff, begun, 'process');
  await age([old, begun], 61);
  await age([young], 59);
  await eventually(async () => expect((await shop.view(customer, old)).body.status).toBe('cancelled'), 30_000);
  expect((await shop.view(customer, old)).body.cancellation.reason).toBe('expired');
  const history = await shop.orders.get(`/v1/orders/${old}/history`, { token: customer.token });
  expect(history.body.items.map(({ status, by }) => [status, by])).toEqual([
    ['pending', 'customer'],
    ['cancelled', 'system'],
  ]);
  expect(await cancellations(old)).toMatchObject([{ cancelledBy: 'system', reason: 'expired' }]);
  await eventually(async () => expect(await shop.stockOf(product)).toMatchObject({ stock: 10, reserved: 2 }));
  const { rows } = await shop.services
    .service('catalogue')
    .database.query("SELECT actor, actor_id FROM stock_ledger WHERE kind = 'released' AND order_id = $1", [old]);
  expect(rows).toEqual([{ actor: 'system', actor_id: null }]);
  expect((await shop.view(customer, young)).body.status).toBe('pending');
  expect((await shop.view(customer, begun)).body.status).toBe('processing');
});

it('the expiry job cancels each order at most once while customers cancel and staff process the same orders', async () => {
  const product = await shop.product({ stock: 1_000 });
  const ids: string[] = [];
  while (ids.length < 200) ids.push(...(await Promise.all(Array.from({ length: 20 }, () => placed(product)))));
  await age(ids, 90);
  const begun = 'SELECT FROM orders WHERE id = ANY ($1::uuid[]) AND status <> $2 LIMIT 1';
  while ((await database().query(begun, [ids, 'pending'])).rows.length === 0) await sleep(2);
  // The loop of the service cancels the orders one after the other, in the order of their creation.
  await Promise.all(
    ids.toReversed().map(async (id, index) => {
      const [who, action] = index % 2 === 0 ? [customer, 'cancel'] : [shop.staff, 'process'];
      const { status } = await shop.act(who, id, action);
      expect([200, 409, 503]).toContain(status);
    }),
  );
  // Orders whose cancellation was refused because of the load are left to the loop, which runs every ten seconds.
  const left = "SELECT id FROM orders WHERE id = ANY ($1::uuid[]) AND status = 'pending'";
  await eventually(async () => expect((await database().query(left, [ids])).rows).toEqual([]), 30_000);
  const outcomes = new Map<string, number>();
  for (const id of ids) {
    const { status } = (await shop.view(customer, id)).body;
    const found = await cancellations(id);
    expect([status, found.length]).toEqual([status, status === 'cancelled' ? 1 : 0]);
    const outcome = `${status} ${found[0]?.cancelledBy ?? ''}`;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  expect([...outcomes.keys()].every((key) => /^(cancelled (customer|system)|processing )$/.test(key))).toBe(true);
  expect(outcomes.get('cancelled system')).toBeGreaterThan(0);
  const live = outcomes.get('processing ') ?? 0;
  await eventually(async () =>
    expect(await shop.stockOf(product)).toEqual({ stock: 1_000, reserved: live, oversold: 0 }),
  );
  const url = shop.services.database.urls.catalogue;
  expect((await verifyStock({ DATABASE_URL: url })).faults).toEqual([]);
});

it('a shop with ORDER_PENDING_HOURS=0 does not expire an order, whatever its age', async () => {
  const other = await startShop({ environment: { ORDER_PENDING_HOURS: '0' } });
  try {
    const buyer = await other.customer();
    const { body } = await other.order(buyer, { [await other.product()]: 1 });
    await other.services
      .service('orders')
      .database.query("UPDATE orders SET created_at = now() - interval '1 year' WHERE id = $1", [body.id]);
    await sleep(11_000);
    expect((await other.view(buyer, body.id)).body.status).toBe('pending');
  } finally {
    await other.stop();
  }
});
