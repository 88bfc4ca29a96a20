// GET /v1/products
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startServices, type TestClient, type TestServices } from '@shop/shared/testing';
import { addProducts } from './products.ts';

let services: TestServices;
let client: TestClient;

beforeAll(async () => {
  services = await startServices(['catalogue']);
  client = services.service('catalogue').client;
  await addProducts(services, [
    { name: 'Kettle', brand: 'Acme', category: 'kitchen', price: 19.99, rating: 4.5, status: 'available', stock: 3 },
    { name: 'Mug', brand: 'Smith, Sons', category: 'kitchen', price: 5, status: 'active', stock: 0 },
    { name: 'Lamp', brand: 'Acme', category: 'light', price: 49.5, rating: 3.9, status: 'backorder' },
    { name: 'Bulb', brand: 'Lumen', category: 'light', price: 2.25, rating: 4.5, status: 'backorder' },
  ]);
});

afterAll(() => services.stop());

const names = async (query: string): Promise<string[]> => {
  const answer = await client.get(`/v1/products${query}`);
  expect(answer.status).toBe(200);
  return answer.body.items.map(({ name }) => name);
};

describe('200', () => {
  it('GET /v1/products lists the newest first, each with all its members', async () => {
    const { body } = await client.get('/v1/products');
    expect(body.pagination).toEqual({ limit: 20, hasMore: false });
    expect(body.items.map(({ name }) => name)).toEqual(['Bulb', 'Lamp', 'Mug', 'Kettle']);
    expect(body.items[3]).toEqual({
      id: expect.any(String),
      name: 'Kettle',
      brand: 'Acme',
      category: 'kitchen',
      price: 19.99,
      currency: 'EUR',
      rating: 4.5,
      status: 'available',
      inStock: true,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(body.items[2]).not.toHaveProperty('rating');
    expect(body.items[2]?.inStock).toBe(false);
  });

  it.each([
    ['?price=gte:5,lt:20', ['Mug', 'Kettle']],
    ['?brand=Acme,Lumen', ['Bulb', 'Lamp', 'Kettle']],
    ['?brand=%22Smith,%20Sons%22', ['Mug']],
    ['?rating=gte:4', ['Bulb', 'Kettle']],
    ['?status=available&status=active', ['Mug', 'Kettle']],
    ['?category=light&price=lt:10', ['Bulb']],
    ['?name=ne:Bulb,ne:Mug', ['Lamp', 'Kettle']],
    ['?sort=price:asc', ['Bulb', 'Mug', 'Kettle', 'Lamp']],
    ['?sort=name:desc', ['Mug', 'Lamp', 'Kettle', 'Bulb']],
    ['?sort=rating:desc,price:asc', ['Bulb', 'Kettle', 'Lamp', 'Mug']],
    ['?sort=rating:asc,price:desc', ['Lamp', 'Kettle', 'Bulb', 'Mug']],
    ['?createdAt=lt:2020-01-01T00:00:00Z', []],
    ['?inStock=true', ['Kettle']],
    ['?inStock=false', ['Bulb', 'Lamp', 'Mug']],
    ['?inStock=true,false&brand=Acme', ['Lamp', 'Kettle']],
    ['?updatedAt=gte:2020-01-01T00:00:00Z&sort=updatedAt:asc', ['Kettle', 'Mug', 'Lamp', 'Bulb']],
    ['?sort=rating:desc,updatedAt:desc', ['Bulb', 'Kettle', 'Lamp', 'Mug']],
    ['?status=pending', []],
  ])('GET /v1/products%s returns the matching products', async (query, expected) => {
    expect(await names(query)).toEqual(expected);
  });

  it('GET /v1/products links each page to the next one, and the search accepts the same cursor', async () => {
    const first = await client.get('/v1/products?sort=price:asc&limit=3&fields=name');
    expect(first.body.items).toEqual([{ name: 'Bulb' }, { name: 'Mug' }, { name: 'Kettle' }]);
    const [, next = ''] = /^<(.*)>; rel="next"$/.exec(first.headers.link ?? '') ?? [];
    const second = await client.get(next);
    expect(second.body).toEqual({ items: [{ name: 'Lamp' }], pagination: { limit: 3, hasMore: false } });
    expect(second.headers).not.toHaveProperty('link');
    const searched = await client.post('/v1/products/search', {
      body: {
        sort: [{ field: 'price', direction: 'asc' }],
        pagination: { cursor: first.body.pagination.nextCursor },
        fields: ['name'],
      },
    });
    expect(searched.body.items).toEqual([{ name: 'Lamp' }]);
  });

  it('HEAD returns the headers of GET /v1/products without a body', async () => {
    const answer = await client.call('HEAD', '/v1/products');
    expect(answer).toMatchObject({ status: 200, text: '' });
  });
});

describe('400', () => {
  it.each([
    'page=2',
    'offset=10',
    'price=cheap',
    'price=1e400',
    'price=gte:',
    'brand=',
    'status=sold',
    'inStock=yes',
    'inStock=ne:true',
    'id=kettle',
    'id=gt:01931f6e-2d00-7c3a-8d51-5f3b6a1c0e01',
    'updatedAt=yesterday',
    'stock=1',
    'sort=brand:asc',
    'sort=price',
    'limit=0',
    'limit=101',
    'limit=1&limit=2',
    'fields=stock',
    'brand=%00',
    'brand=%ff',
    'brand=%ED%A0%80',
    '__proto__=1',
    "brand=eq:a'; DROP TABLE products;--:",
  ])('GET /v1/products returns 400 for %s', async (query) => {
    const answer = await client.get(`/v1/products?${query}`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-request' } });
    expect(answer.body.errors[0]?.parameter).toBeDefined();
  });

  it.each([
    ['limit=500&sort=foo:asc&price=abc', ['limit', 'sort', 'price']],
    ['price=cheap&colour=red', ['colour', 'price']],
    ['brand=a"b&price=abc', ['brand', 'price']],
    ['brand=%ff&price=abc&page=2&limit=02', ['brand', 'limit', 'page', 'price']],
    ['sort=name:asc&sort=price:asc&fields=stock', ['sort', 'fields']],
  ])('GET /v1/products lists each fault of %s once', async (query, parameters) => {
    const { status, body } = await client.get(`/v1/products?${query}`);
    expect(status).toBe(400);
    expect(body.errors.map(({ parameter }) => parameter).sort()).toEqual([...parameters].sort());
    expect(body.detail).toContain(`(and ${parameters.length - 1} more)`);
  });

  it('GET /v1/products returns 400 for an invalid cursor, and a cursor of another sort order', async () => {
    const { body } = await client.get('/v1/products?limit=1');
    const { nextCursor: cursor } = body.pagination;
    for (const query of [
      'cursor=x',
      `cursor=${cursor}x`,
      `cursor=${cursor}&sort=price:asc`,
      `cursor=${cursor}&brand=Acme`,
    ]) {
      const answer = await client.get(`/v1/products?${query}`);
      expect(answer).toMatchObject({
        status: 400,
        body: { code: 'invalid-cursor', errors: [{ parameter: 'cursor' }] },
      });
    }
  });
});

describe('422', () => {
  it('GET /v1/products names the bound, its figure, and the nearest query that is accepted', async () => {
    const brands = Array.from({ length: 101 }, (_, index) => `b${index}`).join();
    const answer = await client.get(`/v1/products?brand=${brands}`);
    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'query-too-costly', exceeded: [{ bound: 'listValues', maximum: 100, actual: 101 }] },
    });
    expect((await client.get(`/v1/products?${answer.body.nearest}`)).status).toBe(200);
  });
});
