// The gauges of orders, as Prometheus reads them: exact numbers of orders and refunds, and the age of the oldest.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { freePorts } from '@shop/shared/embedded';
import { eventually } from '@shop/shared/testing';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let port: number;
let customer: Customer;
let productId: string;

beforeAll(async () => {
  [port = 0] = await freePorts(1);
  shop = await startShop({ environment: { PAYMENTS: 'required' } });
  await shop.services.service('orders').restart({ METRICS_PORT: String(port), METRICS_HOST: '127.0.0.1' });
  customer = await shop.customer();
  productId = await shop.product({ stock: 100, price: 10 });
});
afterAll(() => shop?.stop());

async function gauges(): Promise<Record<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const lines = text.matchAll(
    /^(shop_(?:orders_open|orders_age|orders_finished|refunds_\w+)\w*)\{(?:.*shop_status="(\w+)")?.*\} (\S+)$/gm,
  );
  return Object.fromEntries(
    [...lines].map(([, name = '', status = '', value]) => [`${name} ${status}`.trim(), Number(value)]),
  );
}

async function place(): Promise<string> {
  const { body } = await shop.order(customer, { [productId]: 1 });
  return body.id;
}

async function pay(orderId: string): Promise<void> {
  const body = { reference: `payment-${orderId}`, amount: 10, currency: 'EUR' };
  expect(await shop.act(shop.staff, orderId, 'payments', { body })).toMatchObject({ status: 200 });
}

it('the gauges count orders by status and refunds that are due, with the age of the oldest', async () => {
  const ids: string[] = [];
  for (let count = 0; count < 6; count += 1) ids.push(await place());
  const [processed = '', shipped = '', delivered = '', refunded = '', paid = ''] = ids;
  for (const id of [processed, shipped, delivered, refunded, paid]) await pay(id);
  for (const id of [processed, shipped, delivered]) await shop.act(shop.staff, id, 'process');
  for (const id of [shipped, delivered]) await shop.act(shop.staff, id, 'ship');
  await shop.act(shop.staff, delivered, 'deliver');
  await shop.act(customer, refunded, 'cancel');
  const { database } = shop.services.service('orders');
  await database.query("UPDATE orders SET created_at = now() - interval '3 days' WHERE id = $1", [paid]);
  await database.query("UPDATE order_payments SET paid_at = now() - interval '2 days' WHERE order_id = $1", [paid]);
  await eventually(async () => {
    const found = await gauges();
    expect(found).toMatchObject({
      'shop_orders_open pending': 2,
      'shop_orders_open paid': 1,
      'shop_orders_open processing': 1,
      'shop_orders_open shipped': 1,
      'shop_orders_finished delivered': 1,
      'shop_orders_finished cancelled': 1,
      shop_refunds_due: 1,
    });
    expect(found['shop_orders_age pending']).toBeGreaterThan(3 * 86_400 - 1);
    expect(found['shop_orders_age paid']).toBeGreaterThan(2 * 86_400 - 1);
    expect(found['shop_orders_age paid']).toBeLessThan(3 * 86_400);
    expect(found['shop_orders_age shipped']).toBeLessThan(600);
    expect(found.shop_refunds_age).toBeLessThan(600);
  }, 30_000);
});
