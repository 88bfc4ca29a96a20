// What is due as a refund for returned units: the exact share of what was paid, with discounts, taxes and shipping.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestAnswer } from '@shop/shared/testing';
import { booksOf } from './payment-books.ts';
import { type ReturningShop, returningShop } from './returned-orders.ts';
import { startShop, type TestShop } from './shop.ts';

const toPayment = ({ payment }: TestAnswer['body']) => payment as { readonly refundDue: number };

describe.each([
  { taxes: 'included', shipping: 'keep' },
  { taxes: 'added', shipping: 'refund' },
] as const)('returns with taxes $taxes and RETURN_SHIPPING=$shipping', ({ taxes, shipping }) => {
  let shop: TestShop;
  let returns: ReturningShop;
  let mug: string;
  let book: string;
  let voucher: string;
  const address = { street_address: 'Lindenweg 4', city: 'Berlin', postal_code: '10115', country: 'DE' };
  const discounted = { shipping_address: address, discountCode: 'THIRD' };

  beforeAll(async () => {
    const environment = {
      TAXES: taxes,
      SHOP_COUNTRY: 'DE',
      PAYMENTS: 'required',
      RETURN_SHIPPING: shipping,
      HOLD_ORDERS: '0',
      HOLD_UNITS: '0',
    };
    shop = await startShop({ environment });
    returns = returningShop(shop, await shop.customer());
    mug = await shop.product({ name: 'Mug', price: 14.35, stock: 1_000 });
    book = await shop.product({ name: 'Book', price: 19.99, stock: 1_000, taxCategory: 'reduced' });
    voucher = await shop.product({ name: 'Voucher', price: 10, stock: 1_000, shipped: false });
    await shop.configure('tax-rates', { country: 'DE', rate: 19, name: 'MwSt.' });
    await shop.configure('tax-rates', { country: 'DE', category: 'reduced', rate: 7, name: 'MwSt.' });
    await shop.configure('shipping-methods', { name: { de: 'Standard' }, price: 4.9 });
    await shop.configure('discounts', { name: 'Third', code: 'THIRD', kind: 'percent', value: 33.33 });
  });
  afterAll(() => shop?.stop());

  /** Returns the units and receives them. Returns the refund in minor units. */
  async function back(orderId: string, units: Readonly<Record<string, number>>): Promise<number> {
    const { status, body, text } = await returns.receive(await returns.requested(orderId, units), units);
    expect([status, text]).toEqual([200, expect.any(String)]);
    return Math.round(Number(body.refund) * 100);
  }

  /** What was paid, and the price of shipping with its tax, in minor units. */
  async function costOf(orderId: string): Promise<{ readonly paid: number; readonly sending: number }> {
    const { totalCost, shipping: parcel } = (await shop.view(shop.staff, orderId)).body;
    const { price = 0, tax = 0 } = (parcel ?? {}) as { price?: number; tax?: number };
    const sending = taxes === 'added' ? price + tax : price;
    return { paid: Math.round(Number(totalCost) * 100), sending: Math.round(sending * 100) };
  }

  it.each([
    [
      'one after the other',
      [
        [3, 0],
        [1, 2],
        [1, 1],
      ],
    ],
    [
      'one product first',
      [
        [5, 0],
        [0, 1],
        [0, 2],
      ],
    ],
    [
      'in single units',
      [
        [1, 1],
        [1, 1],
        [1, 1],
        [1, 0],
        [1, 0],
      ],
    ],
  ])('returns %s give back exactly what was paid', async (_how, parts) => {
    const orderId = await returns.ordered({ [mug]: 5, [book]: 3 }, discounted);
    const { paid, sending } = await costOf(orderId);
    const refunds: number[] = [];
    for (const [mugs = 0, books = 0] of parts) {
      refunds.push(await back(orderId, { ...(mugs > 0 && { [mug]: mugs }), ...(books > 0 && { [book]: books }) }));
    }
    for (const refund of refunds) expect(refund).toBeGreaterThan(0);
    const kept = shipping === 'keep' ? sending : 0;
    expect(sending).toBeGreaterThan(0);
    expect(refunds.reduce((sum, refund) => sum + refund, 0)).toBe(paid - kept);
    const books = await booksOf(shop.services.service('orders').database, [orderId]);
    expect(books).toMatchObject({ faults: [], received: paid, kept, owed: paid - kept });
    // The amounts of the order stay those of what was shipped.
    expect((await shop.view(shop.staff, orderId)).body).toMatchObject({
      itemsSummary: [
        { quantity: 5, returnedQuantity: 5 },
        { quantity: 3, returnedQuantity: 3 },
      ],
      totalCost: paid / 100,
    });
  });

  it('a return after a partial cancellation gives back the rest', async () => {
    const orderId = await returns.ordered({ [mug]: 3, [voucher]: 1 }, discounted, 'paid');
    const { paid, sending } = await costOf(orderId);
    const cancelled = await shop.act(shop.staff, orderId, 'cancel', {
      body: { lines: [{ productId: mug, quantity: 1 }] },
    });

    for (const step of ['process', 'ship']) await shop.act(shop.staff, orderId, step);
    const refund = (await back(orderId, { [mug]: 2 })) + (await back(orderId, { [voucher]: 1 }));
    const kept = shipping === 'keep' ? sending : 0;
    expect(refund).toBe(paid - Math.round(Number(toPayment(cancelled.body).refundDue) * 100) - kept);
    const books = await booksOf(shop.services.service('orders').database, [orderId]);
    expect(books).toMatchObject({ faults: [], kept });
  });
});

it('a return of an order that needs no payment has no refund', async () => {
  const shop = await startShop();
  try {
    const returns = returningShop(shop, await shop.customer());
    const cup = await shop.product();
    const orderId = await returns.ordered({ [cup]: 1 });
    const { body } = await returns.receive(await returns.requested(orderId, { [cup]: 1 }), { [cup]: 1 });
    expect(body).toMatchObject({ status: 'received' });
    expect(body).not.toHaveProperty('refund');
    expect((await shop.view(shop.staff, orderId)).body).not.toHaveProperty('payment');
  } finally {
    await shop.stop();
  }
});
