// The cart of the client, against a shop that answers as it is told. test/system/browser/cart.test.ts runs it in tabs.
import { afterEach, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { memoryStorage } from '../src/cart-storage.ts';
import { type CartState, createShop, isShopError, UnknownOutcomeError } from '../src/index.ts';
import { type FaultyShop, type Reaction, refused, type Seen, startFaultyShop } from './faulty-shop.ts';

let server: FaultyShop;
afterEach(() => server.close());

const quoted = (count: number) => ({
  itemsSummary: [],
  totalCost: count,
  currency: 'EUR',
  shippingMethods: [],
  problems: [],
});

let orders: (count: number) => Reaction;

/** Starts a shop whose quotes have the number of the quote as their total, and returns carts on one storage. */
async function startCarts() {
  let [quotes, attempts] = [0, 0];
  server = await startFaultyShop(({ line }) => {
    if (line === 'POST /v1/quotes') {
      quotes += 1;
      return { status: 200, body: { ...quoted(quotes), quote: `quote ${quotes}` } };
    }
    attempts += 1;
    return orders(attempts);
  });
  const storage = memoryStorage();
  const open = () => createShop({ baseUrl: server.url, attempts: 1, cart: { storage, quoteAfter: 20 } }).cart;
  return { open };
}

const sentTo = (path: string): Seen[] => server.seen.filter(({ line }) => line === `POST ${path}`);

it('a cart adds up, sets and removes products, and asks for one price after several changes', async () => {
  const cart = (await startCarts()).open();
  const states: CartState[] = [];
  const end = cart.subscribe((state) => states.push(state));
  await cart.add('a', 2);
  await cart.add('b');
  await cart.add('a');
  await cart.set('b', 4);
  await cart.choose({ shipping_address: { country: 'CH' }, discountCode: 'TEN' });
  expect(cart.state).toMatchObject({ quote: undefined, isOrdering: false });
  await eventually(() => expect(cart.state.quote).toMatchObject({ totalCost: 1 }));
  expect(sentTo('/v1/quotes').map(({ body }) => JSON.parse(body))).toEqual([
    {
      items: [
        { productId: 'a', quantity: 3 },
        { productId: 'b', quantity: 4 },
      ],
      shipping_address: { country: 'CH' },
      discountCode: 'TEN',
    },
  ]);
  expect(states.at(-1)).toEqual(cart.state);
  end();
  const { length } = states;
  await cart.choose({ discountCode: undefined });
  await cart.set('a', 0);
  expect(cart.state).toMatchObject({
    items: [{ productId: 'b', quantity: 4 }],
    terms: { shipping_address: { country: 'CH' } },
  });
  expect(cart.state.terms).not.toHaveProperty('discountCode');
  expect(states).toHaveLength(length);
});

it('an order without a response keeps the cart, and is sent again with the same key and body', async () => {
  orders = (count) => (count === 1 ? 'break' : { status: 201, body: { id: 'order' } });
  const { open } = await startCarts();
  const [cart, other] = [open(), open()];
  await cart.add('a');
  await eventually(() => expect(cart.state.quote).toBeDefined());
  await expect(cart.order()).rejects.toThrow('got no response');
  await eventually(() => expect(other.state.isOrdering).toBe(true));
  await expect(other.add('b')).rejects.toThrow('The cart is being ordered.');
  expect(await other.order()).toMatchObject({ id: 'order' });
  await eventually(() => expect(cart.state).toMatchObject({ items: [], isOrdering: false }));
  const [first, second] = sentTo('/v1/orders');
  expect(second?.body).toBe(first?.body);
  expect(JSON.parse(String(first?.body))).toEqual({ items: [{ productId: 'a', quantity: 1 }], quote: 'quote 1' });
  expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
  await expect(cart.order()).rejects.toThrow('The cart is empty.');
});

it('a refused order keeps the contents, gets a new price, and the next one has another key', async () => {
  orders = (count) => (count === 1 ? refused(409, 'price-changed') : { status: 201, body: { id: 'order' } });
  const cart = (await startCarts()).open();
  await cart.add('a');
  await eventually(() => expect(cart.state.quote).toMatchObject({ totalCost: 1 }));
  const refusal = await cart.order().catch((error: unknown) => error);
  expect(isShopError(refusal, 'createOrder') && refusal.code).toBe('price-changed');
  expect(cart.state).toMatchObject({ isOrdering: false, items: [{ productId: 'a' }], quote: { totalCost: 2 } });
  await cart.order();
  const keys = sentTo('/v1/orders').map(({ headers }) => headers['idempotency-key']);
  expect(new Set(keys).size).toBe(2);
  expect(JSON.parse(String(sentTo('/v1/orders')[1]?.body))).toMatchObject({ quote: 'quote 2' });
});

it('an order without a response is sent again neither for another account nor after its key may be forgotten, until it is forgotten', async () => {
  orders = (count) => (count <= 2 ? 'break' : { status: 201, body: { id: 'order' } });
  const { open } = await startCarts();
  const cart = open();
  await cart.add('a');
  await expect(cart.order()).rejects.toThrow('The price of the cart is not known yet.');
  await eventually(() => expect(cart.state.quote).toBeDefined());
  await expect(cart.order({ accountId: 'kim' })).rejects.toThrow('got no response');
  await expect(cart.order({ accountId: 'sam' })).rejects.toMatchObject({ isOfOtherAccount: true });
  await expect(cart.order({ accountId: 'kim' })).rejects.toThrow('got no response');
  const { now } = Date;
  Date.now = () => now() + 24 * 60 * 60_000;
  try {
    await expect(cart.order({ accountId: 'kim' })).rejects.toBeInstanceOf(UnknownOutcomeError);
  } finally {
    Date.now = now;
  }
  expect(sentTo('/v1/orders')).toHaveLength(2);
  const other = open();
  await eventually(() => expect(other.state.isOrdering).toBe(true));
  await other.forget();
  await eventually(() => expect(other.state).toMatchObject({ isOrdering: false, quote: expect.anything() }));
  expect(await other.order({ accountId: 'sam' })).toMatchObject({ id: 'order' });
  const keys = sentTo('/v1/orders').map(({ headers }) => headers['idempotency-key']);
  expect([keys.length, new Set(keys).size]).toEqual([3, 2]);
});

it('a repeated order that the shop did not look at stays the same order', async () => {
  const answers: Reaction[] = ['break', refused(401, 'unauthorized'), refused(429, 'rate-limited')];
  orders = (count) => answers[count - 1] ?? { status: 201, body: { id: 'order' } };
  const cart = (await startCarts()).open();
  await cart.add('a');
  await eventually(() => expect(cart.state.quote).toBeDefined());
  for (const _ of answers) await expect(cart.order()).rejects.toThrow();
  expect(await cart.order()).toMatchObject({ id: 'order' });
  const keys = sentTo('/v1/orders').map(({ headers }) => headers['idempotency-key']);
  expect([keys.length, new Set(keys).size]).toEqual([4, 1]);
});

it('a cart takes whole numbers alone', async () => {
  const cart = (await startCarts()).open();
  await cart.add('a', 2);
  for (const quantity of [Number.NaN, 1.5]) {
    await expect(cart.set('a', quantity)).rejects.toThrow('is no whole number');
    await expect(cart.add('a', quantity)).rejects.toThrow('is no whole number');
  }
  expect(cart.state.items).toEqual([{ productId: 'a', quantity: 2 }]);
});

it('a price that cannot be calculated is reported, and the next change calculates it', async () => {
  const storage = memoryStorage();
  server = await startFaultyShop((_, count) => (count === 1 ? 'break' : { status: 200, body: quoted(count) }));
  const { cart } = createShop({ baseUrl: server.url, attempts: 1, cart: { storage, quoteAfter: 0 } });
  await cart.add('a');
  await eventually(() => expect(String(cart.state.error)).toContain('got no response'));
  await cart.add('a');
  await eventually(() => expect(cart.state).toMatchObject({ quote: { totalCost: 2 }, error: undefined }));
});
