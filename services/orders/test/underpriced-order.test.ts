// The metric and the log of orders that cost nothing, or far less than usual.
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { freePorts } from '@shop/shared/embedded';
import { eventually } from '@shop/shared/testing';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let port: number;
let customer: Customer;

beforeAll(async () => {
  [port = 0] = await freePorts(1);
  shop = await startShop({ shared: false });
});
beforeEach(async () => {
  customer = await shop.customer();
  await shop.services.service('orders').restart({ METRICS_PORT: String(port), METRICS_HOST: '127.0.0.1' });
});
afterAll(() => shop?.stop());

async function counts(): Promise<Record<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const lines = text.matchAll(/^shop_orders_underpriced_total\{.*shop_kind="([a-z-]+)".*\} (\S+)$/gm);
  return Object.fromEntries([...lines].map(([, kind = '', value]) => [kind, Number(value)]));
}

async function setPrice(productId: string, price: number): Promise<void> {
  const answer = await shop.catalogue.patch(`/v1/products/${productId}`, { token: shop.staff.token, body: { price } });
  expect(answer.status).toBe(200);
}

async function order(...products: string[]): Promise<void> {
  const items = Object.fromEntries(products.map((id) => [id, 1]));
  expect(await shop.order(customer, items)).toMatchObject({ status: 201 });
}

it('the metric of underpriced orders counts an order that costs nothing, also when the price was restored afterwards', async () => {
  const productId = await shop.product({ price: 20 });
  await setPrice(productId, 0);
  await order(productId);
  await setPrice(productId, 20);
  await order(productId);
  await eventually(async () => expect(await counts()).toEqual({ free: 1, 'below-usual': 0 }));
});

it('an order with a line below half of the usual price is counted, whatever the other lines cost', async () => {
  const [cheap, other] = [await shop.product({ price: 20 }), await shop.product({ price: 500 })];
  await setPrice(cheap, 10);
  await order(cheap, other);
  await setPrice(cheap, 9.99);
  await order(cheap, other);
  await setPrice(cheap, 0);
  await order(cheap, other);
  await eventually(async () => expect(await counts()).toEqual({ free: 0, 'below-usual': 2 }));
});

it('the metric of underpriced orders compares with the price of a week ago, and so counts no order of a price that has been lower for longer', async () => {
  const productId = await shop.product({ price: 20 });
  await setPrice(productId, 5);
  const { database } = shop.services.service('catalogue');
  await database.query("UPDATE product_changes SET created_at = now() - interval '8 days' WHERE product_id = $1", [
    productId,
  ]);
  await order(productId);
  const free = await shop.product({ price: 0 });
  await order(free);
  await eventually(async () => expect(await counts()).toEqual({ free: 1, 'below-usual': 0 }));
});
