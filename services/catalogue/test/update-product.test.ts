// PATCH /v1/products/{productId}
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startServices, type TestClient, type TestServices } from '@shop/shared/testing';
import type { Pool } from 'pg';
import { addProducts, staffToken } from './products.ts';

let services: TestServices;
let client: TestClient;
let database: Pool;
let token: string;
let id: string;

beforeAll(async () => {
  services = await startServices(['catalogue']);
  ({ client, database } = services.service('catalogue'));
  token = await staffToken(services);
});

beforeEach(async () => {
  [id = ''] = await addProducts(services, [
    { name: 'Kettle', price: 19.99, rating: 4.5, description: 'Boils', stock: 5 },
  ]);
});

afterAll(() => services.stop());

const patch = (body: unknown, headers = {}) => client.patch(`/v1/products/${id}`, { token, body, headers });
const view = () => client.get(`/v1/products/${id}`, { token });

describe('200', () => {
  it('PATCH /v1/products/{productId} changes the named members, removes members that are null, and keeps the others', async () => {
    const { body: before } = await view();
    const answer = await patch({ price: 25, rating: null, description: null });
    expect(answer).toMatchObject({ status: 200, headers: { etag: 'W/"2.5.0"' } });
    const { rating: _, description: __, ...kept } = before;
    expect(answer.body).toEqual({ ...kept, price: 25, updatedAt: expect.any(String) });
    expect((await view()).body).toEqual(answer.body);
  });

  it('PATCH /v1/products/{productId} changes neither version nor time when nothing changes', async () => {
    const { body: before } = await view();
    for (const [body, onHand] of [
      [{}, 5],
      [{ price: 19.99 }, 5],
      [{ stock: 9 }, 9],
    ] as const) {
      const answer = await patch(body);
      expect(answer).toMatchObject({ status: 200, headers: { etag: `W/"1.${onHand}.0"` } });
      expect(answer.body).toEqual({ ...before, stock: { onHand, promised: 0, available: onHand } });
    }
  });

  it('PATCH /v1/products/{productId} records every change of stock in the ledger, and changes the version when the product sells out', async () => {
    expect(await patch({ stock: 0 })).toMatchObject({ body: { inStock: false }, headers: { etag: 'W/"2.0.0"' } });
    expect(await patch({ stock: 12 })).toMatchObject({ body: { inStock: true }, headers: { etag: 'W/"3.12.0"' } });
    const { rows } = await database.query('SELECT kind, quantity FROM stock_ledger WHERE product_id = $1 ORDER BY id', [
      id,
    ]);
    expect(rows.map(({ quantity }) => quantity)).toEqual([5, -5, 12]);
  });

  it('PATCH /v1/products/{productId} accepts an If-Match with the present version, whatever units have moved', async () => {
    expect((await patch({ price: 1 }, { 'If-Match': '"1"' })).status).toBe(200);
    expect((await patch({ stock: { adjust: 2 } }, { 'If-Match': 'W/"2.5.0"' })).status).toBe(200);
    expect((await patch({ price: 3 }, { 'If-Match': '"9", W/"2.5.0"' })).status).toBe(200);
    for (const stale of ['W/"2.7.0"', 'W/"30.7.0"', 'W/"3.7.x"'])
      expect([stale, (await patch({ price: 4 }, { 'If-Match': stale })).status]).toEqual([stale, 412]);
    expect((await patch({ price: 2 }, { 'If-Match': '*' })).status).toBe(200);
  });

  it('PATCH /v1/products/{productId} accepts one of two concurrent requests with the same version', async () => {
    const both = await Promise.all([1, 2].map((price) => patch({ price }, { 'If-Match': '"1"' })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  });
});

describe('a change of the stock', () => {
  const stockOf = async () => (await client.get(`/v1/products/${id}/stock`, { token })).body;
  const lastEntry = async () => {
    const { rows } = await database.query(
      `SELECT kind, quantity, stock_after, actor, actor_id, request_id, reason, counted, expected FROM stock_ledger
       WHERE product_id = $1 ORDER BY id DESC LIMIT 1`,
      [id],
    );
    return rows[0];
  };

  it('a change of the stock adjusts the units on hand, and the ledger records author, request and reason', async () => {
    const adjusted = await patch({ stock: { adjust: -2, reason: 'Broken' } }, { 'X-Request-Id': 'adjust-1' });
    expect([adjusted.status, adjusted.headers.deprecation]).toEqual([200, undefined]);
    expect(await stockOf()).toEqual({ productId: id, onHand: 3, promised: 0, available: 3 });
    expect(await lastEntry()).toEqual({
      kind: 'received',
      quantity: -2,
      stock_after: 3,
      actor: 'staff',
      actor_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      request_id: 'adjust-1',
      reason: 'Broken',
      counted: null,
      expected: null,
    });
    expect((await patch({ stock: { adjust: 10 } })).status).toBe(200);
    expect(await stockOf()).toMatchObject({ onHand: 13 });
  });

  it('a change of the stock adds up concurrent adjustments', async () => {
    const answers = await Promise.all(
      // In any order, the stock is never negative.
      Array.from({ length: 15 }, (_, n) => patch({ stock: { adjust: n % 3 === 0 ? -1 : 3 } })),
    );
    const done = answers.filter(({ status }) => status === 200).length;
    expect(done).toBe(15);
    expect(await stockOf()).toMatchObject({ onHand: 5 + 10 * 3 - 5 });
  });

  it('a change of the stock sets the number on hand when the expected one is on hand, and records every count', async () => {
    expect((await patch({ stock: { set: 9, expected: 5, reason: 'Count' } })).status).toBe(200);
    expect(await lastEntry()).toMatchObject({ quantity: 4, counted: 9, expected: 5, reason: 'Count' });
    expect((await patch({ stock: { set: 9, expected: 9 } })).status).toBe(200);
    expect(await lastEntry()).toMatchObject({ quantity: 0, counted: 9, expected: 9, reason: null });
  });

  it('a change of the stock is rejected when another number than expected is on hand, and changes no member', async () => {
    const answer = await patch({ price: 1, stock: { set: 9, expected: 7 } });
    expect(answer).toMatchObject({ status: 409, body: { code: 'stock-changed' } });
    expect(answer.body.errors).toEqual([
      { pointer: '/stock/expected', detail: 'is 7, but 5 units are on hand', onHand: 5 },
    ]);
    expect((await view()).body.price).toBe(19.99);
    expect(await stockOf()).toMatchObject({ onHand: 5 });
  });

  it('a change of the stock lets one of two concurrent counts win', async () => {
    const both = await Promise.all([8, 9].map((set) => patch({ stock: { set, expected: 5 } })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('a change of the stock by a plain number is still accepted, and announced as deprecated', async () => {
    const answer = await patch({ stock: 8 });
    expect([answer.status, answer.headers.deprecation, answer.headers.link]).toEqual([
      200,
      '@1795478400',
      '</docs/staff>; rel="deprecation"; type="text/html"',
    ]);
    expect(await lastEntry()).toMatchObject({ quantity: 3, counted: 8, expected: null });
    expect((await patch({ price: 3 })).headers.deprecation).toBeUndefined();
  });

  it.each([
    [{ adjust: -4 }, '/stock/adjust'],
    [{ set: 1, expected: 5 }, '/stock/set'],
    [1, '/stock'],
  ])('a change of the stock never removes reserved units: %j', async (stock, pointer) => {
    await database.query('UPDATE products SET reserved = 2 WHERE id = $1', [id]);
    expect(await patch({ stock })).toMatchObject({
      status: 409,
      body: { code: 'insufficient-stock', errors: [{ pointer }] },
    });
    expect((await patch({ stock: { adjust: -3 } })).status).toBe(200);
    expect(await stockOf()).toMatchObject({ onHand: 2, promised: 2, available: 0 });
  });

  it('a change of the stock does not exceed the largest stock', async () => {
    expect(await patch({ stock: { adjust: 1_000_000_000 } })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/stock/adjust' }] },
    });
  });

  it('a PATCH names the invalid name of an attribute, and the notation of a currency', async () => {
    const { body } = await patch({ attributes: { 'Bad name': 'x' }, currency: 'eur' });
    expect(body.errors).toEqual([
      { pointer: '/currency', detail: 'must be three capital letters such as EUR' },
      {
        pointer: '/attributes/Bad name',
        detail: 'has a name that must begin with a small letter and have only letters from a to z and digits',
      },
    ]);
  });

  it.each([
    [{ set: 9 }, '/stock/expected', 'is required'],
    [{ adjust: 1.5 }, '/stock/adjust', 'must be integer'],
    [{ adjust: 1, reason: '' }, '/stock/reason', 'must not have fewer than 1 character'],
    [{ adjust: 1, expected: 2 }, '/stock/expected', 'must not be given together with adjust'],
    [{ adjust: 1, set: 2 }, '/stock/set', 'must not be given together with adjust'],
    [-1, '/stock', 'must be >= 0'],
    ['5', '/stock', 'must be integer or object'],
  ])('a change of the stock rejects %j with one fault', async (stock, pointer, detail) => {
    const { status, body } = await patch({ stock });
    expect([status, body.errors]).toEqual([400, [{ pointer, detail }]]);
  });

  it.each([
    [{ images: [{ url: 'https://shop.example/1.png' }] }, '/images/0/alt', 'is required'],
    [{ attributes: { colour: ['red'] } }, '/attributes/colour', 'must be string or number or null'],
  ])(
    'a change of the stock rejects %j with one fault, and not also that of its forms',
    async (change, pointer, detail) => {
      const { status, body } = await patch(change);
      expect([status, body.errors]).toEqual([400, [{ pointer, detail }]]);
    },
  );
});

describe('400', () => {
  it.each([
    [{ name: null }, '/name'],
    [{ price: null }, '/price'],
    [{ stock: null }, '/stock'],
    [{ status: null }, '/status'],
    [{ name: '' }, '/name'],
    [{ price: 1.999 }, '/price'],
    [{ currency: 'USD' }, '/currency'],
    [{ id: 'x' }, '/id'],
    [{ inStock: false }, '/inStock'],
    [{ updatedAt: 'x' }, '/updatedAt'],
    [{ oversold: 1 }, '/oversold'],
  ])('PATCH /v1/products/{productId} returns 400 for %j', async (body, pointer) => {
    expect(await patch(body)).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
    expect((await view()).headers.etag).toBe('W/"1.5.0"');
  });

  it('PATCH /v1/products/{productId} reports all faults together, including those that depend on the currency', async () => {
    const body = { name: '', price: 1.999, rating: null, currency: 'USD' };
    const answer = await patch(body, { 'If-Match': '"0"' });
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/name' }, { pointer: '/price' }, { pointer: '/currency' }] },
    });
  });

  it.each(['null', '[]', '"text"', '{"constructor":1}'])(
    'PATCH /v1/products/{productId} returns 400 for the patch %s',
    async (rawBody) => {
      expect((await client.patch(`/v1/products/${id}`, { token, rawBody })).status).toBe(400);
    },
  );
});

describe('401, 403, 404', () => {
  it('PATCH /v1/products/{productId} requires a token, the scope and an existing product', async () => {
    const path = `/v1/products/${id}`;
    expect((await client.patch(path, { body: { price: 1 } })).status).toBe(401);
    expect((await client.patch(path, { token: await services.issuer.sign(), body: { price: 1 } })).status).toBe(403);
    for (const unknown of ['00000000-0000-7000-8000-000000000000', 'x']) {
      expect((await client.patch(`/v1/products/${unknown}`, { token, body: { price: 1 } })).status).toBe(404);
    }
  });
});

describe('409', () => {
  it('PATCH /v1/products/{productId} returns 409 for a stock below the units that orders reserved', async () => {
    await database.query('UPDATE products SET reserved = 3 WHERE id = $1', [id]);
    expect(await patch({ stock: 2 })).toMatchObject({
      status: 409,
      body: { code: 'insufficient-stock', errors: [{ pointer: '/stock' }] },
    });
    expect(await patch({ stock: 3 })).toMatchObject({ status: 200, body: { inStock: false } });
  });
});

describe('412, 415', () => {
  it('a stale version changes nothing', async () => {
    await patch({ price: 1 });
    expect(await patch({ price: 2 }, { 'If-Match': '"1"' })).toMatchObject({
      status: 412,
      body: { code: 'precondition-failed' },
    });
    expect((await patch({ price: 2 }, { 'If-None-Match': '*' })).status).toBe(412);
    expect((await patch({ price: 2 }, { 'If-None-Match': (await view()).headers.etag ?? '' })).status).toBe(412);
    expect((await view()).body.price).toBe(1);
  });

  it('a PATCH with a media type other than merge patch returns 415', async () => {
    const answer = await patch({ price: 1 }, { 'Content-Type': 'application/json' });
    expect(answer).toMatchObject({ status: 415, headers: { 'accept-patch': 'application/merge-patch+json' } });
  });
});
