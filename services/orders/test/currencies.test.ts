// Orders, payments and refunds at the largest price, in currencies with each number of decimals.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startShop, type TestShop } from './shop.ts';

describe.each([
  { currency: 'VND', price: 25_000_000, largest: 100_000_000_000, tooLarge: 100_000_000_001, tooFine: 0.5 },
  { currency: 'EUR', price: 25_000_000, largest: 1_000_000_000, tooLarge: 1_000_000_000.01, tooFine: 0.001 },
  { currency: 'IDR', price: 25_000_000, largest: 1_000_000_000, tooLarge: 1_000_000_000.01, tooFine: 0.001 },
  { currency: 'KWD', price: 25_000.125, largest: 100_000_000, tooLarge: 100_000_000.001, tooFine: 0.0001 },
])('a shop in $currency', ({ currency, price, largest, tooLarge, tooFine }) => {
  let shop: TestShop;
  beforeAll(async () => {
    shop = await startShop({ environment: { SHOP_CURRENCY: currency, PAYMENTS: 'required' } });
  });
  afterAll(() => shop?.stop());

  const create = (amount: number) => {
    const body = { name: 'Piano', brand: 'Acme', category: 'Music', price: amount, status: 'active', stock: 10 };
    return shop.catalogue.post('/v1/products', { token: shop.staff.token, body });
  };
  const change = (id: string, body: object) => {
    return shop.catalogue.patch(`/v1/products/${id}`, { token: shop.staff.token, body });
  };

  it('a shop sells goods at ordinary and at the largest prices, and takes and pays back exactly these amounts', async () => {
    for (const amount of [price, largest]) {
      const { status, body } = await create(amount);
      expect([status, body.price, body.currency]).toEqual([201, amount, currency]);
      const found = await shop.catalogue.get(`/v1/products?price=${amount}&fields=id`);
      expect(found.body.items).toEqual([{ id: body.id }]);
      const customer = await shop.customer();
      const total = Number((amount * 2).toFixed(3));
      const items = [{ productId: body.id, quantity: 2, expectedUnitPrice: amount }];
      const input = { token: customer.token, body: { items, expectedTotal: total } };
      const placed = await shop.orders.post('/v1/orders', input);
      expect([placed.status, placed.body.totalCost]).toEqual([201, total]);
      const listed = await shop.orders.get(`/v1/orders?totalCost=gte:${total}&fields=id`, { token: customer.token });
      expect(listed.body.items).toEqual([{ id: placed.body.id }]);
      const money = { body: { reference: `pay ${amount}`, amount: total, currency } };
      const paid = await shop.act(shop.staff, placed.body.id, 'payments', money);
      expect([paid.status, paid.body.amount, paid.body.outcome]).toEqual([200, total, 'paid']);
      expect((await shop.act(customer, placed.body.id, 'cancel')).body.payment).toMatchObject({ refundDue: total });
      const back = { body: { ...money.body, reference: `back ${amount}` } };
      expect(await shop.act(shop.staff, placed.body.id, 'refunds', back)).toMatchObject({ status: 200 });
    }
  });

  it('a shop rejects larger prices and finer ones, when a product is created and when it is changed', async () => {
    const { body } = await create(price);
    for (const amount of [tooLarge, tooFine, 1e15, 1e21]) {
      const refused = { status: 400, body: { errors: [{ pointer: '/price' }] } };
      expect(await create(amount)).toMatchObject(refused);
      expect(await change(body.id, { price: amount })).toMatchObject(refused);
    }
    expect(await change(body.id, { price: largest })).toMatchObject({ status: 200, body: { price: largest } });
  });
});
