// Orders for a product that is archived before and after they are placed.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;

beforeAll(async () => {
  shop = await startShop();
  customer = await shop.customer();
});
afterAll(() => shop.stop());

const archive = async (id: string): Promise<void> => {
  expect((await shop.catalogue.call('DELETE', `/v1/products/${id}`, { token: shop.staff.token })).status).toBe(204);
};

it('an order is rejected and names the product, and can be placed when the product is restored', async () => {
  const [cup, pan] = [await shop.product(), await shop.product()];
  await archive(cup);
  expect(await shop.order(customer, { [pan]: 1, [cup]: 1 })).toMatchObject({
    status: 422,
    body: { code: 'product-not-available', errors: [{ pointer: '/items/1', productId: cup }] },
  });
  expect((await shop.stockOf(pan)).reserved).toBe(0);
  await shop.catalogue.patch(`/v1/products/${cup}`, { token: shop.staff.token, body: { archived: false } });
  expect((await shop.order(customer, { [pan]: 1, [cup]: 1 })).status).toBe(201);
});

it('orders that have the product keep their lines, and ship or give its stock back', async () => {
  const cup = await shop.product({ name: 'Cup', stock: 5 });
  const shipped = (await shop.order(customer, { [cup]: 2 })).body;
  const cancelled = (await shop.order(customer, { [cup]: 1 })).body;
  await archive(cup);
  expect((await shop.view(customer, shipped.id)).body).toEqual(shipped);
  for (const action of ['process', 'ship']) expect((await shop.act(shop.staff, shipped.id, action)).status).toBe(200);
  expect((await shop.act(customer, cancelled.id, 'cancel')).status).toBe(200);
  await eventually(async () => expect(await shop.stockOf(cup)).toEqual({ stock: 3, reserved: 0, oversold: 0 }));
  expect((await shop.view(customer, shipped.id)).body).toMatchObject({
    status: 'shipped',
    itemsSummary: [{ productId: cup, name: 'Cup', quantity: 2 }],
  });
});
