// POST /v1/products
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startServices, type TestClient, type TestServices } from '@shop/shared/testing';
import { staffToken } from './products.ts';

let services: TestServices;
let client: TestClient;
let token: string;
const kettle = { name: 'Kettle', brand: 'Acme', category: 'kitchen', price: 19.99 };

beforeAll(async () => {
  services = await startServices(['catalogue']);
  client = services.service('catalogue').client;
  token = await staffToken(services);
});

afterAll(() => services.stop());

const create = (body: unknown, headers = {}) => client.post('/v1/products', { token, body, headers });
const count = async () =>
  (await services.service('catalogue').database.query('SELECT count(*)::int AS n FROM products')).rows[0].n;

describe('201', () => {
  it('POST /v1/products returns the product, its URL and its version', async () => {
    const input = { ...kettle, description: 'Boils', rating: 4.5, status: 'pending', lowStockThreshold: 2 };
    const answer = await create({ ...input, stock: 7 });
    expect(answer.status).toBe(201);
    expect(answer.headers.etag).toBe('W/"1.7.0"');
    expect(answer.headers.location).toBe(`/v1/products/${answer.body.id}`);
    expect(answer.body).toMatchObject({ ...input, inStock: true, stock: { onHand: 7, promised: 0, available: 7 } });
    expect((await client.get(answer.headers.location ?? '', { token })).body).toEqual(answer.body);
    const { rows } = await services
      .service('catalogue')
      .database.query('SELECT kind, quantity FROM stock_ledger WHERE product_id = $1', [answer.body.id]);
    expect(rows).toEqual([{ kind: 'received', quantity: 7 }]);
  });

  it('POST /v1/products needs no more than name, brand, category and price', async () => {
    const { body } = await create(kettle);
    expect(body).toMatchObject({ status: 'available', inStock: false });
    expect(body).not.toHaveProperty('rating');
    expect(body).not.toHaveProperty('lowStockThreshold');
    const { rows } = await services
      .service('catalogue')
      .database.query('SELECT 1 FROM stock_ledger WHERE product_id = $1', [body.id]);
    expect(rows).toHaveLength(0);
  });

  it.each([0, 0.01, 9_999_999.99, 25_000_000, 999_999_999.99, 1_000_000_000, 1e2])(
    'POST /v1/products accepts the price %d and returns it',
    async (price) => {
      expect((await create({ ...kettle, price })).body.price).toBe(price);
    },
  );

  it('POST /v1/products counts characters, not code units, and normalises them', async () => {
    const { status, body } = await create({ ...kettle, name: '𝒜'.repeat(200), brand: 'Cafe\u0301' });
    expect(status).toBe(201);
    expect(body.brand).toBe('Caf\u00e9');
  });

  it('requests with one idempotency key create one product', async () => {
    const key = { 'Idempotency-Key': 'create kettle once' };
    const [first, before] = [await create(kettle, key), await count()];
    const again = await create(kettle, key);
    expect(again.body).toEqual(first.body);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(await count()).toBe(before);
  });

  it('POST /v1/products accepts a corrected request under the idempotency key of a malformed one', async () => {
    const key = { 'Idempotency-Key': 'corrected' };
    expect((await create({ ...kettle, price: 1.999 }, key)).status).toBe(400);
    expect(await create({ ...kettle, price: 1.99 }, key)).toMatchObject({ status: 201, body: { price: 1.99 } });
  });
});

describe('400', () => {
  it.each([
    [{ name: undefined }, '/name'],
    [{ name: '' }, '/name'],
    [{ name: '  ' }, '/name'],
    [{ name: 'x'.repeat(201) }, '/name'],
    [{ name: 5 }, '/name'],
    [{ name: null }, '/name'],
    [{ brand: 'x'.repeat(101) }, '/brand'],
    [{ description: 'x'.repeat(5001) }, '/description'],
    [{ price: '19.99' }, '/price'],
    [{ price: -0.01 }, '/price'],
    [{ price: 1_000_000_000.01 }, '/price'],
    [{ price: 1e15 }, '/price'],
    [{ price: 19.999 }, '/price'],
    [{ price: 1e-9 }, '/price'],
    [{ currency: 'USD' }, '/currency'],
    [{ rating: 5.1 }, '/rating'],
    [{ rating: 4.55 }, '/rating'],
    [{ status: 'sold' }, '/status'],
    [{ stock: -1 }, '/stock'],
    [{ stock: 1.5 }, '/stock'],
    [{ stock: 1_000_000_001 }, '/stock'],
    [{ lowStockThreshold: -1 }, '/lowStockThreshold'],
    [{ lowStockThreshold: null }, '/lowStockThreshold'],
    [{ id: 'x' }, '/id'],
    [{ inStock: true }, '/inStock'],
    [{ createdAt: '2026-11-21T00:00:00.000Z' }, '/createdAt'],
    [{ reserved: 1 }, '/reserved'],
    [{ name: 'a\0b' }, '/name'],
    [{ name: '\ud800' }, '/name'],
  ])('POST /v1/products returns 400 for %j', async (change, pointer) => {
    const before = await count();
    const answer = await create({ ...kettle, ...change });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-request', errors: [{ pointer }] } });
    expect(await count()).toBe(before);
  });

  it('POST /v1/products reports all faults together, including those that depend on the currency', async () => {
    const { status, body } = await create({
      brand: 'Acme',
      category: 5,
      price: 1.999,
      rating: 'good',
      currency: 'USD',
    });
    expect(status).toBe(400);
    expect(body.errors.map(({ pointer }) => pointer).sort()).toEqual([
      '/category',
      '/currency',
      '/name',
      '/price',
      '/rating',
    ]);
  });

  it('POST /v1/products returns 400 for an invalid idempotency key', async () => {
    const answer = await create(kettle, { 'Idempotency-Key': 'x'.repeat(256) });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ header: 'Idempotency-Key' }] } });
  });

  it.each(['', 'null', '[]', '{"price":1e400}', '{"__proto__":{"x":1}}'])(
    'POST /v1/products returns 400 for the body %j',
    async (rawBody) => {
      expect((await client.post('/v1/products', { token, rawBody })).status).toBe(400);
    },
  );
});

describe('401, 403', () => {
  it('POST /v1/products rejects a request without a token, with a forged token and without the scope', async () => {
    expect((await client.post('/v1/products', { body: kettle })).status).toBe(401);
    const forged = await services.issuer.forge({ scopes: ['catalogue:write'] });
    expect((await client.post('/v1/products', { token: forged, body: kettle })).status).toBe(401);
    const customer = await services.issuer.sign({ scopes: ['orders:fulfil'] });
    expect((await client.post('/v1/products', { token: customer, body: kettle })).status).toBe(403);
  });
});

describe('415, 422', () => {
  it('POST /v1/products rejects a merge patch', async () => {
    expect((await create(kettle, { 'Content-Type': 'application/merge-patch+json' })).status).toBe(415);
  });

  it('POST /v1/products rejects the same idempotency key with another product', async () => {
    const key = { 'Idempotency-Key': 'one key, two products' };
    await create(kettle, key);
    expect(await create({ ...kettle, price: 20 }, key)).toMatchObject({
      status: 422,
      body: { code: 'idempotency-key-reused' },
    });
  });
});
