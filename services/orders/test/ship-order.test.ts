// POST /v1/orders/{orderId}/ship: the tracking of the parcel. advance-order.test.ts tests the rules that all steps
// share.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;
let cup: string;

beforeAll(async () => {
  shop = await startShop();
  customer = await shop.customer();
  cup = await shop.product({ stock: 1000 });
});
afterAll(() => shop.stop());

const address = { street_address: 'Lindenweg 4', city: 'Basel' };
const tracking = {
  carrier: 'Post',
  tracking_number: '9900 1234',
  tracking_url: 'https://post.example/parcels?id=9900&lang=de',
};

/** Returns an order in processing. */
async function processing(shippingAddress?: object): Promise<string> {
  const body = {
    items: [{ productId: cup, quantity: 1 }],
    ...(shippingAddress && { shipping_address: shippingAddress }),
  };
  const placed = await shop.order(customer, {}, { body });
  await shop.act(shop.staff, placed.body.id, 'process');
  return placed.body.id;
}

async function eventData(orderId: string): Promise<Record<string, Record<string, unknown>>> {
  const { database } = shop.services.service('orders');
  const { rows } = await database.query('SELECT type, data FROM outbox WHERE subject = $1', [orderId]);
  return Object.fromEntries(rows.map(({ type, data }) => [type, data]));
}

describe('200', () => {
  it('POST /v1/orders/{orderId}/ship shows the tracking on the order and in the event, with the address', async () => {
    const id = await processing(address);
    const answer = await shop.act(shop.staff, id, 'ship', { body: tracking });
    expect([answer.status, answer.body.status, answer.body.tracking]).toEqual([200, 'shipped', tracking]);
    expect((await shop.view(customer, id)).body.tracking).toEqual(tracking);
    expect(await eventData(id)).toMatchObject({
      'order.created.v1': { shippingAddress: address },
      'order.shipped.v1': { shippingAddress: address, tracking },
    });
    expect((await shop.act(shop.staff, id, 'deliver')).body.tracking).toEqual(tracking);
  });

  it.each([{}, { body: {} }])(
    'POST /v1/orders/{orderId}/ship shows no tracking and no address when none was given: %j',
    async (options) => {
      const id = await processing();
      const answer = await shop.act(shop.staff, id, 'ship', options);
      expect([answer.status, 'tracking' in answer.body]).toEqual([200, false]);
      const events = await eventData(id);
      for (const type of ['order.created.v1', 'order.shipped.v1']) {
        expect(events[type]).not.toHaveProperty('shippingAddress');
        expect(events[type]).not.toHaveProperty('tracking');
      }
    },
  );

  it.each([
    { carrier: 'x'.repeat(100) },
    { tracking_number: '😀'.repeat(100) },
    { tracking_url: 'https://post.example' },
    { tracking_url: 'https://post.example:8443/a/b?c=d#e[1]' },
    { tracking_url: `https://post.example/${'x'.repeat(1979)}` },
  ])('POST /v1/orders/{orderId}/ship accepts a partial tracking: %j', async (body) => {
    const answer = await shop.act(shop.staff, await processing(), 'ship', { body });
    expect([answer.status, answer.body.tracking]).toEqual([200, body]);
  });
});

describe('400', () => {
  it.each([
    { carrier: '' },
    { carrier: ' ' },
    { carrier: 'x'.repeat(101) },
    { carrier: null },
    { tracking_number: 7 },
    { tracking_url: 'http://post.example' },
    { tracking_url: 'HTTPS://post.example' },
    { tracking_url: 'javascript:alert(1)' },
    { tracking_url: 'https://' },
    { tracking_url: 'https://post.example/ x' },
    { tracking_url: 'https://post.example/"onclick=' },
    { tracking_url: 'https://user:word@post.example/' },
    { tracking_url: `https://post.example/${'x'.repeat(1980)}` },
    { url: 'https://post.example' },
    { carrier: 'a\u0000b' },
    [],
    null,
  ])('POST /v1/orders/{orderId}/ship rejects %j, and the order is not shipped', async (body) => {
    const id = await processing();
    expect((await shop.act(shop.staff, id, 'ship', { body })).status).toBe(400);
    expect((await shop.view(customer, id)).body.status).toBe('processing');
  });
});

describe('422', () => {
  it('POST /v1/orders/{orderId}/ship returns 422 for another tracking with the same key', async () => {
    const id = await processing();
    const headers = { 'Idempotency-Key': newId() };
    const first = await shop.act(shop.staff, id, 'ship', { headers, body: tracking });
    expect((await shop.act(shop.staff, id, 'ship', { headers, body: tracking })).text).toBe(first.text);
    expect((await shop.act(shop.staff, id, 'ship', { headers, body: { carrier: 'Other' } })).status).toBe(422);
  });
});
