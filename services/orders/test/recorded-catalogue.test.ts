// The calls from orders to the catalogue, against the recordings in contracts/catalogue.yaml. The catalogue does not
// run.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { type RecordedShop, startRecordedShop } from './recorded-shop.ts';

let shop: RecordedShop;
let account: string;

beforeAll(async () => {
  shop = await startRecordedShop();
  account = newId();
});
afterAll(() => shop?.stop());

/** Returns an order that the warehouse processes. */
async function processing(): Promise<string> {
  shop.catalogue.given('two lamps and a chair are on hand');
  const { body } = await shop.order(account);
  expect((await shop.asStaff(body.id, 'process')).status).toBe(200);
  return body.id;
}

describe('an order', () => {
  it('an order has the names and the prices of the reservation', async () => {
    shop.catalogue.given('two lamps and a chair are on hand');
    const { status, body } = await shop.order(account);
    expect([status, body.totalCost, body.itemsSummary]).toEqual([
      201,
      160.48,
      [
        { productId: shop.lamp, name: 'Desk lamp', quantity: 2, unitPrice: 19.99, lineTotal: 39.98 },
        { productId: shop.chair, name: 'Chair', quantity: 1, unitPrice: 120.5, lineTotal: 120.5 },
      ],
    ]);
  });

  it('an order takes another reservation when the first one cannot be used', async () => {
    shop.catalogue.given('the reservation was released', 'two lamps and a chair are on hand');
    expect((await shop.order(account)).status).toBe(201);
  });

  it('an order is rejected with the missing units of each item', async () => {
    shop.catalogue.given('one lamp is on hand');
    const { status, body } = await shop.order(account);
    expect([status, body.code, body.detail]).toEqual([409, 'insufficient-stock', 'The catalogue refuses.']);
    const fault = { pointer: '/items/0', detail: 'is not possible', productId: shop.lamp };
    expect(body.errors).toEqual([{ ...fault, requested: 2, available: 1 }]);
  });

  it('an order is rejected with the items that are not for sale', async () => {
    shop.catalogue.given('the lamp is not for sale');
    const { status, body } = await shop.order(account);
    expect([status, body.code, body.detail]).toEqual([422, 'product-not-available', 'The catalogue refuses.']);
    expect(body.errors).toEqual([{ pointer: '/items/0', detail: 'is not possible', productId: shop.lamp }]);
  });

  it('an order is rejected with what the account holds', async () => {
    shop.catalogue.given('the account holds two orders');
    const { status, body } = await shop.order(account);
    expect([status, body.code, body.detail]).toEqual([
      409,
      'hold-limit',
      expect.stringContaining('has 2, and at most 2'),
    ]);
  });

  it('an order releases its reservation when its total is not the expected one', async () => {
    shop.catalogue.given('two lamps and a chair are on hand', 'two lamps and a chair are reserved');
    expect(await shop.order(account, { expectedTotal: 1 })).toMatchObject({ status: 409 });
  });
});

describe('a shipment', () => {
  it('a shipment assigns the units of the order', async () => {
    const order = await processing();
    shop.catalogue.given('two lamps and a chair are reserved');
    expect((await shop.asStaff(order, 'ship')).status).toBe(200);
  });

  it('a shipment names the units that the order still has, after some were cancelled', async () => {
    shop.catalogue.given('two lamps and a chair are on hand');
    const { body } = await shop.order(account);
    const lines = [{ productId: shop.lamp, quantity: 1 }];
    expect((await shop.asCustomer(account, body.id, 'cancel', { lines })).status).toBe(200);
    expect((await shop.asStaff(body.id, 'process')).status).toBe(200);
    shop.catalogue.given('two lamps and a chair are reserved');
    expect((await shop.asStaff(body.id, 'ship')).status).toBe(200);
  });

  it('a shipment is rejected with the missing units', async () => {
    const order = await processing();
    shop.catalogue.given('a lamp is reserved that has to be ordered first');
    const { status, body } = await shop.asStaff(order, 'ship');
    expect([status, body.code, body.detail]).toEqual([409, 'stock-missing', 'The catalogue refuses.']);
    expect(body.errors).toEqual([expect.objectContaining({ productId: shop.lamp, requested: 2, onHand: 1 })]);
  });
});

it('a quote has the prices of the catalogue, and the missing units of each item', async () => {
  shop.catalogue.given('one lamp is on hand');
  const { status, body } = await shop.quote();
  expect([status, body.totalCost]).toEqual([200, 160.48]);
  const fault = { pointer: '/items/0', productId: shop.lamp, requested: 2, available: 1 };
  expect(body.problems).toMatchObject([{ code: 'insufficient-stock', errors: [fault] }]);
});

it('a quote with a token lists what the account holds', async () => {
  shop.catalogue.given('the account holds two orders');
  const { body } = await shop.quote(account);
  expect(body.problems).toMatchObject([{ code: 'hold-limit', errors: [{ bound: 'orders', limit: 2, held: 2 }] }]);
});

it('the orders service agrees with the recordings in every call, and sends every recorded call', () => {
  expect(shop.catalogue.deviations()).toEqual([]);
});
