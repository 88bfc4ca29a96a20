// Machines have no orders of their own, and may do what their scopes permit with the orders of customers.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let ada: Customer;
let orderId: string;

beforeAll(async () => {
  shop = await startShop();
  ada = await shop.customer();
  orderId = (await shop.order(ada, { [await shop.product({ stock: 5 })]: 1 })).body.id;
});
afterAll(() => shop.stop());

async function machine(...scopes: string[]): Promise<Customer> {
  const accountId = newId();
  return { accountId, token: await shop.services.issuer.sign({ accountId, isMachine: true, scopes }) };
}

it('machines place no order, whatever their scopes', async () => {
  const { token } = await machine('orders:read-all', 'orders:fulfil', 'payments:write', 'catalogue:write');
  const body = { items: [{ productId: newId(), quantity: 1 }] };
  const { status, body: problem } = await shop.orders.post('/v1/orders', { token, body });
  expect([status, problem.code, problem.detail]).toEqual([
    403,
    'forbidden',
    'This operation acts for the holder of an account, and a machine has none.',
  ]);
});

it('a machine lists the orders of other accounts with orders:read-all, and has no own orders', async () => {
  const { token } = await machine('orders:read-all');
  const all = await shop.orders.get('/v1/orders?accountId=all', { token });
  expect([all.status, all.body.items.map(({ id }) => id)]).toEqual([200, [orderId]]);
  expect((await shop.orders.get(`/v1/orders?accountId=${ada.accountId}`, { token })).body.items).toHaveLength(1);
  const own = await shop.orders.get('/v1/orders', { token });
  expect([own.status, own.body.detail]).toEqual([403, 'A machine owns no orders.']);
  expect((await shop.orders.get(`/v1/orders/${orderId}`, { token })).status).toBe(200);
  expect((await shop.orders.get(`/v1/orders/${orderId}/history`, { token })).status).toBe(200);
});

it('machines read and cancel no order without the scope', async () => {
  const { token } = await machine('payments:write');
  const refused = [
    await shop.orders.get('/v1/orders?accountId=all', { token }),
    await shop.orders.get(`/v1/orders/${orderId}`, { token }),
    await shop.orders.post(`/v1/orders/${orderId}/cancel`, { token }),
    await shop.orders.post(`/v1/orders/${orderId}/process`, { token }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
});

it('machines fulfil and cancel orders with orders:fulfil, as staff does', async () => {
  const robot = await machine('orders:fulfil');
  expect((await shop.act(robot, orderId, 'process')).status).toBe(200);
  expect((await shop.act(robot, orderId, 'cancel')).status).toBe(200);
  const { body } = await shop.orders.get(`/v1/orders/${orderId}/history`, { token: shop.staff.token });
  expect(body.items.map(({ by }) => by)).toEqual(['customer', 'staff', 'staff']);
});
