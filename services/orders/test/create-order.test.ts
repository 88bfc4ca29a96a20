// POST /v1/orders, by status.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, lockWaits } from '@shop/shared/testing';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;

beforeAll(async () => {
  shop = await startShop({ shared: false });
  customer = await shop.customer();
});
afterAll(() => shop.stop());

const placed = async (): Promise<number> => {
  const { database } = shop.services.service('orders');
  const { rows } = await database.query('SELECT count(*)::int AS n FROM orders');
  return rows[0].n;
};

describe('201', () => {
  it('POST /v1/orders returns the order, its URL and its version', async () => {
    const cup = await shop.product({ name: 'Cup', price: 19.99 });
    const answer = await shop.order(customer, { [cup]: 2 });
    expect(answer.status).toBe(201);
    expect(answer.headers.location).toBe(`/v1/orders/${answer.body.id}`);
    expect(answer.headers.etag).toBe('W/"1"');
    expect(answer.body).toEqual({
      id: expect.any(String),
      status: 'pending',
      createdAt: expect.any(String),
      updatedAt: answer.body.createdAt,
      accountId: customer.accountId,
      itemsSummary: [{ productId: cup, name: 'Cup', quantity: 2, unitPrice: 19.99, lineTotal: 39.98 }],
      totalCost: 39.98,
      currency: 'EUR',
      allowedActions: ['cancel'],
    });
    expect((await shop.view(customer, answer.body.id)).body).toEqual(answer.body);
    expect(await shop.stockOf(cup)).toEqual({ stock: 10, reserved: 2, oversold: 0 });
  });

  it('POST /v1/orders takes the id of a product in capitals, repeats the request by its key in either case, and writes lower case', async () => {
    const [cup, key] = [await shop.product(), newId()];
    const send = (productId: string) =>
      shop.orders.post('/v1/orders', {
        token: customer.token,
        body: { items: [{ productId, quantity: 1 }] },
        headers: { 'Idempotency-Key': key },
      });
    const [first, again] = [await send(cup.toUpperCase()), await send(cup)];
    expect(first).toMatchObject({ status: 201, body: { itemsSummary: [{ productId: cup }] } });
    expect(again).toMatchObject({ status: 201, body: first.body, headers: { 'idempotency-replayed': 'true' } });
  });

  it('POST /v1/orders repeats an action by its key, whatever the case of the id in its path', async () => {
    const { id } = (await shop.order(customer, { [await shop.product()]: 1 })).body;
    const cancel = (path: string) =>
      shop.orders.post(`/v1/orders/${path}/cancel`, {
        token: customer.token,
        headers: { 'Idempotency-Key': 'the-key' },
      });
    const [first, again] = [await cancel(id.toUpperCase()), await cancel(id)];
    expect(first).toMatchObject({ status: 200, body: { id, status: 'cancelled' } });
    expect(again).toMatchObject({ status: 200, headers: { 'idempotency-replayed': 'true' } });
  });

  it('POST /v1/orders adds the quantities of a repeated product, in the order of first appearance', async () => {
    const [b, a] = [await shop.product({ price: 0.1 }), await shop.product({ price: 0.2 })];
    const items = [
      { productId: a, quantity: 1 },
      { productId: b, quantity: 2 },
      { productId: a, quantity: 2 },
    ];
    const answer = await shop.orders.post('/v1/orders', { token: customer.token, body: { items } });
    expect(answer.body.itemsSummary).toEqual([
      { productId: a, name: 'Cup', quantity: 3, unitPrice: 0.2, lineTotal: 0.6 },
      { productId: b, name: 'Cup', quantity: 2, unitPrice: 0.1, lineTotal: 0.2 },
    ]);
    expect(answer.body.totalCost).toBe(0.8);
  });

  it('POST /v1/orders stores names and prices, which later changes of the product do not affect', async () => {
    const cup = await shop.product({ name: 'Old name', price: 5 });
    const { body } = await shop.order(customer, { [cup]: 1 });
    await shop.catalogue.patch(`/v1/products/${cup}`, {
      token: shop.staff.token,
      body: { name: 'New name', price: 6 },
    });
    expect((await shop.view(customer, body.id)).body).toMatchObject({
      itemsSummary: [{ name: 'Old name', unitPrice: 5 }],
      totalCost: 5,
    });
  });

  it('POST /v1/orders keeps the shipping address as it was given', async () => {
    const cup = await shop.product();
    const shipping_address = { street_address: 'Lindenweg 4', city: 'Zürich', country: 'CH' };
    const body = { items: [{ productId: cup, quantity: 1 }], shipping_address };
    const answer = await shop.orders.post('/v1/orders', { token: customer.token, body });
    expect(answer.body.shipping_address).toEqual(shipping_address);
  });

  it('POST /v1/orders accepts a correct expected total in any JSON notation', async () => {
    const cup = await shop.product({ price: 19.9 });
    const rawBody = `{"items":[{"productId":"${cup}","quantity":1}],"expectedTotal":19.90}`;
    const headers = { 'Content-Type': 'application/json' };
    expect((await shop.orders.post('/v1/orders', { token: customer.token, rawBody, headers })).status).toBe(201);
  });

  it('POST /v1/orders sells products on back order beyond the stock, and assigns new units to the waiting orders', async () => {
    const lamp = await shop.product({ status: 'backorder', stock: 1 });
    expect((await shop.order(customer, { [lamp]: 3 })).status).toBe(201);
    expect(await shop.stockOf(lamp)).toEqual({ stock: 1, reserved: 1, oversold: 2 });
    await shop.catalogue.patch(`/v1/products/${lamp}`, { token: shop.staff.token, body: { stock: 2 } });
    expect(await shop.stockOf(lamp)).toEqual({ stock: 2, reserved: 2, oversold: 1 });
    await shop.catalogue.patch(`/v1/products/${lamp}`, { token: shop.staff.token, body: { stock: 7 } });
    expect(await shop.stockOf(lamp)).toEqual({ stock: 7, reserved: 3, oversold: 0 });
  });

  it('POST /v1/orders writes the event in the transaction of the order', async () => {
    const cup = await shop.product({ price: 1.5 });
    const { body } = await shop.order(customer, { [cup]: 2 }, { headers: { 'X-Request-Id': 'create-1' } });
    const { rows } = await shop.services
      .service('orders')
      .database.query('SELECT type, sequence::int, request_id, data FROM outbox WHERE subject = $1', [body.id]);
    expect(rows).toEqual([
      {
        type: 'order.created.v1',
        sequence: 1,
        request_id: 'create-1',
        data: {
          orderId: body.id,
          accountId: customer.accountId,
          reservationId: expect.any(String),
          items: [{ productId: cup, name: 'Cup', quantity: 2, unitPrice: 1.5, lineTotal: 3 }],
          totalCost: 3,
          currency: 'EUR',
        },
      },
    ]);
  });
});

describe('201 again, with the same Idempotency-Key', () => {
  it('a retry of POST /v1/orders returns the first response and reserves no stock', async () => {
    const cup = await shop.product();
    const headers = { 'Idempotency-Key': newId() };
    const first = await shop.order(customer, { [cup]: 1 }, { headers });
    const again = await shop.order(customer, { [cup]: 1 }, { headers });
    expect(again.status).toBe(201);
    expect(again.text).toBe(first.text);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.headers.location).toBe(first.headers.location);
    expect(again.headers.etag).toBe('W/"1"');
    expect(await shop.stockOf(cup)).toMatchObject({ reserved: 1 });
  });

  it('POST /v1/orders creates one order for any number of concurrent requests', async () => {
    const cup = await shop.product({ stock: 1000 });
    const headers = { 'Idempotency-Key': newId() };
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => shop.order(customer, { [cup]: 1 }, { headers })),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(1);
    const others = answers.filter(({ status }) => status !== 201);
    for (const { body, headers: sent } of others) {
      expect(body.code).toBe('request-in-progress');
      expect(sent['retry-after']).toBe('1');
    }
    expect(await shop.stockOf(cup)).toMatchObject({ reserved: 1 });
  });

  it('POST /v1/orders finds the reservation of a request that died before its order', async () => {
    const cup = await shop.product({ stock: 1 });
    const headers = { 'Idempotency-Key': newId() };
    // The first request reserves the stock and then cannot write its order.
    const { database } = shop.services.service('orders');
    await database.query('ALTER TABLE orders ADD CONSTRAINT never CHECK (version > 1) NOT VALID');
    const died = await shop.order(customer, { [cup]: 1 }, { headers }).finally(async () => {
      await database.query('ALTER TABLE orders DROP CONSTRAINT never');
    });
    expect(died.status).toBe(500);
    expect(await shop.stockOf(cup)).toMatchObject({ reserved: 1 });
    expect((await shop.order(customer, { [cup]: 1 }, { headers })).status).toBe(201);
    expect(await shop.stockOf(cup)).toMatchObject({ reserved: 1 });
  });
});

describe('400', () => {
  const refused = async (body: unknown): Promise<unknown> => {
    const before = await placed();
    const answer = await shop.orders.post('/v1/orders', { token: customer.token, body });
    expect(answer.status).toBe(400);
    expect(await placed()).toBe(before);
    return answer.body.errors;
  };
  const productId = newId();

  it('POST /v1/orders reports missing, unknown and out-of-range members together', async () => {
    expect(
      await refused({ items: [{ productId, quantity: 0 }, { productId: 'x', quantity: 1.5 }, {}], id: 'mine' }),
    ).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ pointer: '/id' }),
        expect.objectContaining({ pointer: '/items/0/quantity' }),
        expect.objectContaining({ pointer: '/items/1/productId' }),
        expect.objectContaining({ pointer: '/items/1/quantity' }),
        expect.objectContaining({ pointer: '/items/2/productId' }),
        expect.objectContaining({ pointer: '/items/2/quantity' }),
      ]),
    );
    await refused({ items: [] });
    await refused({ items: Array.from({ length: 101 }, () => ({ productId, quantity: 1 })) });
    await refused({ items: [{ productId, quantity: 1000 }] });
    await refused({ items: [{ productId, quantity: 1 }], shipping_address: { planet: 'Mars' } });
    await refused({ items: [{ productId, quantity: 1 }], shipping_address: { city: 'x'.repeat(201) } });
    await refused({ items: [{ productId, quantity: 1, unitPrice: 0.01 }] });
  });

  it.each([1.999, -1, '19.99', 1e21, null])(
    'POST /v1/orders returns 400 for %p as the expected total',
    async (expectedTotal) => {
      expect(await refused({ items: [{ productId, quantity: 1 }], expectedTotal })).toEqual([
        expect.objectContaining({ pointer: '/expectedTotal' }),
      ]);
    },
  );

  it('POST /v1/orders lists a fault of the expected total together with the others', async () => {
    const body = { items: [{ productId, quantity: 0 }], expectedTotal: 1.999 };
    const headers = { 'Idempotency-Key': 'x'.repeat(256) };
    const answer = await shop.orders.post('/v1/orders', { token: customer.token, body, headers });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        errors: [{ header: 'Idempotency-Key' }, { pointer: '/items/0/quantity' }, { pointer: '/expectedTotal' }],
      },
    });
  });

  it('POST /v1/orders returns 400 for an expected total that a double cannot represent', async () => {
    const cup = await shop.product({ price: 10 });
    const before = await placed();
    const rawBody = `{"items":[{"productId":"${cup}","quantity":1}],"expectedTotal":9.999999999999999999}`;
    const answer = await shop.orders.post('/v1/orders', { token: customer.token, rawBody });
    expect([answer.status, answer.body.errors?.[0]?.pointer]).toEqual([400, '/expectedTotal']);
    expect(await placed()).toBe(before);
  });

  it('POST /v1/orders returns 400 for 1e400, NUL and other invalid bodies', async () => {
    const headers = { 'Content-Type': 'application/json' };
    for (const rawBody of [
      `{"items":[{"productId":"${productId}","quantity":1e400}]}`,
      `{"items":[{"productId":"${productId}","quantity":1}],"shipping_address":{"city":"\\u0000"}}`,
      `{"items":[{"productId":"${productId}","quantity":1}],"shipping_address":{"city":"\\ud800"}}`,
      '{"__proto__":{},"items":[]}',
      'null',
      '[]',
      '{',
    ]) {
      expect((await shop.orders.post('/v1/orders', { token: customer.token, rawBody, headers })).status).toBe(400);
    }
    expect((await shop.orders.post('/v1/orders', { token: customer.token })).status).toBe(400);
  });

  it('POST /v1/orders returns 400 for an invalid idempotency key', async () => {
    const headers = { 'Idempotency-Key': 'x'.repeat(256) };
    const answer = await shop.order(customer, { [productId]: 1 }, { headers });
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0]?.header).toBe('Idempotency-Key');
  });
});

describe('401', () => {
  it('a request without a valid token returns 401', async () => {
    const body = { items: [{ productId: newId(), quantity: 1 }] };
    const forged = await shop.services.issuer.forge();
    const expired = await shop.services.issuer.sign({ expiresIn: -60 });
    expect((await shop.orders.post('/v1/orders', { body })).status).toBe(401);
    expect((await shop.orders.post('/v1/orders', { body, token: forged })).status).toBe(401);
    expect((await shop.orders.post('/v1/orders', { body, token: expired })).status).toBe(401);
  });
});

describe('409', () => {
  it('POST /v1/orders lists the lines that are not in stock with the units that are left, and reserves nothing', async () => {
    const [few, many] = [await shop.product({ stock: 7 }), await shop.product({ stock: 50 })];
    const answer = await shop.order(customer, { [many]: 2, [few]: 8 });
    expect(answer.status).toBe(409);
    expect(answer.body.code).toBe('insufficient-stock');
    expect(answer.body.errors).toEqual([
      { pointer: '/items/1', productId: few, requested: 8, available: 7, detail: '8 requested, 7 available' },
    ]);
    expect(await shop.stockOf(many)).toMatchObject({ reserved: 0 });
    expect(await shop.stockOf(few)).toMatchObject({ reserved: 0 });
  });

  it('POST /v1/orders lists lacking lines together with products that cannot be ordered', async () => {
    const [cup, soon, unknown] = [await shop.product({ stock: 1 }), await shop.product({ status: 'pending' }), newId()];
    const answer = await shop.order(customer, { [soon]: 1, [cup]: 5, [unknown]: 1 });
    expect(answer.status).toBe(409);
    expect(answer.body.code).toBe('insufficient-stock');
    expect(answer.body.errors).toEqual([
      { pointer: '/items/0', productId: soon, detail: 'is no product that can be ordered' },
      { pointer: '/items/1', productId: cup, requested: 5, available: 1, detail: '5 requested, 1 available' },
      { pointer: '/items/2', productId: unknown, detail: 'is no product that can be ordered' },
    ]);
    expect(await shop.stockOf(cup)).toMatchObject({ reserved: 0 });
  });

  it('POST /v1/orders reports at most 99 units', async () => {
    const [some, many] = [await shop.product({ stock: 99 }), await shop.product({ stock: 100 })];
    const answer = await shop.order(customer, { [some]: 999, [many]: 999 });
    expect(answer.body.errors).toMatchObject([
      { productId: some, available: 99 },
      { productId: many, available: '99+' },
    ]);
  });

  it('POST /v1/orders stores the error response under the idempotency key', async () => {
    const cup = await shop.product({ stock: 0 });
    const headers = { 'Idempotency-Key': newId() };
    expect((await shop.order(customer, { [cup]: 1 }, { headers })).status).toBe(409);
    await shop.catalogue.patch(`/v1/products/${cup}`, { token: shop.staff.token, body: { stock: 5 } });
    const again = await shop.order(customer, { [cup]: 1 }, { headers });
    expect(again.status).toBe(409);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(await shop.stockOf(cup)).toMatchObject({ reserved: 0 });
  });

  it('POST /v1/orders names the old and the new total when they differ, and releases the stock immediately', async () => {
    const cup = await shop.product({ price: 10.5 });
    const headers = { 'Idempotency-Key': newId() };
    const body = { items: [{ productId: cup, quantity: 2 }], expectedTotal: 20 };
    const answer = await shop.orders.post('/v1/orders', { token: customer.token, body, headers });
    expect(answer.status).toBe(409);
    expect(answer.body.code).toBe('price-changed');
    expect(answer.body.errors).toEqual([
      { pointer: '/expectedTotal', detail: expect.any(String), old: 20, new: 21 },
      { pointer: '/items/0', detail: expect.any(String), productId: cup, old: 10, new: 10.5 },
    ]);
    expect(await shop.stockOf(cup)).toMatchObject({ reserved: 0 });
    const again = await shop.orders.post('/v1/orders', { token: customer.token, body, headers });
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.body).toEqual({ ...answer.body, instance: again.headers['x-request-id'] });
  });
});

describe('a price that a line expects', () => {
  const place = (items: object[], more: object = {}) =>
    shop.orders.post('/v1/orders', { token: customer.token, body: { items, ...more } });

  it('an order succeeds when the price that a line expects is correct', async () => {
    const [cup, mug] = [await shop.product({ price: 10.5 }), await shop.product({ price: 3 })];
    const answer = await place([
      { productId: cup, quantity: 2, expectedUnitPrice: 10.5 },
      { productId: mug, quantity: 1 },
    ]);
    expect([answer.status, answer.body.totalCost]).toEqual([201, 24]);
  });

  it('each changed price is listed with the present one, and no order is placed', async () => {
    const [cup, mug, pan] = [
      await shop.product({ price: 10.5 }),
      await shop.product({ price: 3 }),
      await shop.product(),
    ];
    const answer = await place([
      { productId: cup, quantity: 2, expectedUnitPrice: 10 },
      { productId: mug, quantity: 1, expectedUnitPrice: 3 },
      { productId: cup, quantity: 1, expectedUnitPrice: 11 },
      { productId: pan, quantity: 1 },
    ]);
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({
      code: 'price-changed',
      detail: 'Not every product has the expected price. Nothing was ordered.',
      errors: [
        {
          pointer: '/items/0',
          productId: cup,
          detail: 'is expected to cost 10.00 each, but costs 10.50',
          old: 10,
          new: 10.5,
        },
        {
          pointer: '/items/2',
          productId: cup,
          detail: 'is expected to cost 11.00 each, but costs 10.50',
          old: 11,
          new: 10.5,
        },
      ],
    });
    expect(await shop.stockOf(cup)).toMatchObject({ reserved: 0 });
  });

  it('expected prices are listed together with a different total; a line without one shows its present price', async () => {
    const [cup, mug, pan] = [
      await shop.product({ price: 10.5 }),
      await shop.product({ price: 3 }),
      await shop.product({ price: 7 }),
    ];
    const lines = [
      { productId: cup, quantity: 1, expectedUnitPrice: 10 },
      { productId: mug, quantity: 1, expectedUnitPrice: 3 },
      { productId: pan, quantity: 1 },
    ];
    const answer = await place(lines, { expectedTotal: 20 });
    expect(answer.body.errors).toEqual([
      { pointer: '/expectedTotal', detail: 'is 20.00, but the order costs 20.50', old: 20, new: 20.5 },
      {
        pointer: '/items/0',
        productId: cup,
        detail: 'is expected to cost 10.00 each, but costs 10.50',
        old: 10,
        new: 10.5,
      },
      { pointer: '/items/2', productId: pan, detail: 'costs 7.00 each', new: 7 },
    ]);
  });

  it('an expected price has no more decimals than the currency, and all faults are listed', async () => {
    const cup = await shop.product();
    const lines = [
      { productId: cup, quantity: 1, expectedUnitPrice: 10.001 },
      { productId: cup, quantity: 1, expectedUnitPrice: 10 },
      { productId: cup, quantity: 1, expectedUnitPrice: 0.005 },
    ];
    const answer = await place(lines, { expectedTotal: 0.001 });
    expect(answer.status).toBe(400);
    expect(answer.body.errors.map(({ pointer }) => pointer)).toEqual([
      '/expectedTotal',
      '/items/0/expectedUnitPrice',
      '/items/2/expectedUnitPrice',
    ]);
  });
});

describe('422', () => {
  it('POST /v1/orders lists products that are unknown or not for sale', async () => {
    const [cup, soon, unknown] = [await shop.product({ stock: 5 }), await shop.product({ status: 'pending' }), newId()];
    const answer = await shop.order(customer, { [soon]: 1, [cup]: 5, [unknown]: 1 });
    expect(answer.status).toBe(422);
    expect(answer.body.code).toBe('product-not-available');
    expect(answer.body.errors.map(({ pointer }) => pointer)).toEqual(['/items/0', '/items/2']);
    expect(await shop.stockOf(cup)).toMatchObject({ reserved: 0 });
  });

  it('POST /v1/orders returns 422 for a key that belongs to another request', async () => {
    const cup = await shop.product();
    const headers = { 'Idempotency-Key': newId() };
    await shop.order(customer, { [cup]: 1 }, { headers });
    const answer = await shop.order(customer, { [cup]: 2 }, { headers });
    expect(answer.status).toBe(422);
    expect(answer.body.code).toBe('idempotency-key-reused');
    expect(await shop.stockOf(cup)).toMatchObject({ reserved: 1 });
  });

  it('POST /v1/orders releases the stock when the other request with the key was quicker', async () => {
    const pan = await shop.product();
    const key = newId();
    const { database } = shop.services.service('catalogue');
    const client = await database.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT FROM products WHERE id = $1 FOR UPDATE', [pan]);
      const slower = shop.order(customer, { [pan]: 1 }, { headers: { 'Idempotency-Key': key } });
      await eventually(async () => expect(await lockWaits(database)).toBe(1));
      // The row of a faster request, which is added after the slower one has looked for it.
      await shop.services.service('orders').database.query(
        `INSERT INTO idempotency_keys (account_id, operation_id, key, fingerprint, status, headers)
         VALUES ($1, 'createOrder', $2, 'of the quicker request', 201, '{}')`,
        [customer.accountId, key],
      );
      await client.query('COMMIT');
      const { status, body } = await slower;
      expect([status, body.code]).toEqual([422, 'idempotency-key-reused']);
    } finally {
      client.release();
    }
    expect(await shop.stockOf(pan)).toMatchObject({ reserved: 0 });
  });

  it('of two requests with the same lines, the faster one keeps its reservation', async () => {
    const cup = await shop.product();
    const headers = { 'Idempotency-Key': newId() };
    const addresses = ['Basel', 'Bern', 'Zug', 'Chur'].map((city) => ({ city }));
    const answers = await Promise.all(
      addresses.map((shipping_address) =>
        shop.order(customer, {}, { headers, body: { items: [{ productId: cup, quantity: 1 }], shipping_address } }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    await eventually(async () => expect(await shop.stockOf(cup)).toMatchObject({ reserved: 1 }));
  });

  it('POST /v1/orders keeps the keys of two accounts apart', async () => {
    const cup = await shop.product();
    const headers = { 'Idempotency-Key': newId() };
    const other = await shop.customer();
    const [mine, theirs] = [
      await shop.order(customer, { [cup]: 1 }, { headers }),
      await shop.order(other, { [cup]: 1 }, { headers }),
    ];
    expect([mine.status, theirs.status]).toEqual([201, 201]);
    expect(theirs.body.accountId).toBe(other.accountId);
    expect(theirs.body.id).not.toBe(mine.body.id);
  });
});

describe('503', () => {
  it('POST /v1/orders returns 503 with Retry-After while the catalogue is unavailable', async () => {
    const cup = await shop.product();
    const headers = { 'Idempotency-Key': newId() };
    await shop.services.service('catalogue').kill();
    const answer = await shop.order(customer, { [cup]: 1 }, { headers });
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('1');
    await shop.services.service('catalogue').restart();
    expect((await shop.order(customer, { [cup]: 1 }, { headers })).status).toBe(201);
  });
});
