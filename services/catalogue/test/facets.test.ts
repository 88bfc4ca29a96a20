// `facets` of GET /v1/products and of POST /v1/products/search.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startServices, type TestService, type TestServices } from '@shop/shared/testing';
import { addProducts } from './products.ts';

let services: TestServices;
let catalogue: TestService;

beforeAll(async () => {
  services = await startServices(['catalogue']);
  catalogue = services.service('catalogue');
  await addProducts(services, [
    { name: 'Kettle', brand: 'Acme', category: 'kitchen', price: 20 },
    { name: 'Copper kettle', brand: 'Smith, "Sons"', category: 'kitchen', price: 49.99 },
    { name: 'Mug', brand: 'Acme', category: 'kitchen', price: 4.99 },
    { name: 'Crown', brand: 'Royal', category: 'jewels', price: 250_000 },
  ]);
});

afterAll(() => services.stop());

const facetsOf = async (query: string) => (await catalogue.client.get(`/v1/products?${query}`)).body.facets;
const search = (body: unknown) => catalogue.client.post('/v1/products/search', { body });

describe('200', () => {
  it('GET /v1/products with facets counts the whole result and not the page', async () => {
    const { body } = await catalogue.client.get('/v1/products?facets=price,brand,category&limit=1');
    expect(body.items).toHaveLength(1);
    expect(body.facets).toEqual({
      brand: [
        { value: 'Acme', count: 2 },
        { value: 'Royal', count: 1 },
        { value: 'Smith, "Sons"', count: 1 },
      ],
      category: [
        { value: 'kitchen', count: 3 },
        { value: 'jewels', count: 1 },
      ],
      price: [
        { from: 0, to: 5, count: 1 },
        { from: 20, to: 50, count: 2 },
        { from: 100_000, count: 1 },
      ],
    });
  });

  it.each([
    [
      'q=kettle&facets=brand',
      {
        brand: [
          { value: 'Acme', count: 1 },
          { value: 'Smith, "Sons"', count: 1 },
        ],
      },
    ],
    ['q=kettel&facets=category&sort=price:asc', { category: [{ value: 'kitchen', count: 2 }] }],
    ['q=zzzz&facets=category,price', { category: [], price: [] }],
    ['brand=Acme&price=gte:10&facets=price', { price: [{ from: 20, to: 50, count: 1 }] }],
    ['price=gte:10,lt:5&facets=brand', { brand: [] }],
    ['q=kettle&price=lt:0&facets=brand,price', { brand: [], price: [] }],
    ['q=kettle&price=gte:20,lt:10&facets=category', { category: [] }],
    ['q=kettle&rating=6&sort=price:asc&facets=brand', { brand: [] }],
    ['q=kettle&status=pending&facets=brand', { brand: [] }],
  ])('GET /v1/products returns the counts of %s', async (query, expected) => {
    expect(await facetsOf(query)).toEqual(expected);
  });

  it('GET /v1/products with facets counts within alternatives, and is the same on each page', async () => {
    const filters = { or: [{ brand: { eq: 'Acme' } }, { price: { gt: 1000 } }] };
    const first = await search({ filters, facets: ['category'], pagination: { limit: 2 } });
    const expected = {
      category: [
        { value: 'kitchen', count: 2 },
        { value: 'jewels', count: 1 },
      ],
    };
    expect(first.body.facets).toEqual(expected);
    const { nextCursor: cursor } = first.body.pagination;
    const second = await search({ filters, facets: ['category'], pagination: { limit: 2, cursor } });
    expect(second.body.facets).toEqual(expected);
    expect(second.body.items).toHaveLength(1);
  });

  it('the member facets is absent without the parameter facets', async () => {
    expect((await catalogue.client.get('/v1/products')).body).not.toHaveProperty('facets');
  });
});

describe('400', () => {
  it.each(['facets=', 'facets=name', 'facets=brand,brand', 'facets=brand&facets=price', 'facets=brand,,price'])(
    'GET /v1/products returns 400 for %s',
    async (query) => {
      const answer = await catalogue.client.get(`/v1/products?${query}`);
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ parameter: 'facets' }] } });
    },
  );

  it.each([
    [[], '/facets'],
    [['name'], '/facets/0'],
    [['brand', 'brand'], '/facets/1'],
    ['brand', '/facets'],
    [{}, '/facets'],
  ])('POST /v1/products/search returns 400 for facets: %j', async (facets, pointer) => {
    expect(await search({ facets })).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
  });
});

describe('422', () => {
  it('facets of a result that is too large return 422, with the request without facets', async () => {
    await catalogue.database.query(`
      INSERT INTO products (id, name, brand, category, price_minor, status)
      SELECT gen_random_uuid(), 'Nail', 'Many', 'Nails', 1, 'active' FROM generate_series(1, 10001)`);
    const { body } = await catalogue.client.get('/v1/products?q=nail&facets=brand&limit=1');
    expect(body).toMatchObject({
      code: 'query-too-costly',
      exceeded: [{ bound: 'facets', maximum: 5_000, actual: 5_001 }],
      nearest: 'q=nail&limit=1',
    });
    const encoded = await catalogue.client.get('/v1/products?q=nail&%66acets=brand&limit=1');
    expect(encoded).toMatchObject({ status: 422, body: { nearest: 'q=nail&limit=1' } });
    const asked = await catalogue.client.get('/v1/products?q=nail&brand=ne:What?&facets=brand&category=Nails');
    expect(asked).toMatchObject({ status: 422, body: { nearest: 'q=nail&brand=ne:What?&category=Nails' } });
    const searched = await search({ facets: ['price'], filters: { brand: { ne: 'Acme' } } });
    expect(searched).toMatchObject({
      status: 422,
      body: {
        exceeded: [{ bound: 'facets', maximum: 10_000, actual: 10_001 }],
        nearest: { filters: { brand: { ne: 'Acme' } } },
      },
    });
    expect(await facetsOf('facets=brand&brand=ne:Many')).toHaveProperty('brand.length', 3);
    await catalogue.database.query(
      "DELETE FROM products WHERE name = 'Nail' AND price_minor = 1 AND id < 'c0000000-0000-0000-0000-000000000000'",
    );
    expect(await facetsOf('q=nail&facets=brand')).toEqual({ brand: [{ value: 'Many', count: '1000+' }] });
  });

  it('facets for words that very many products contain return 422, whatever the other filters are', async () => {
    // Adds the same number of products to each part.
    await catalogue.database.query(`
      INSERT INTO product_search (product_id, name_words, name_lexemes, lexemes)
      SELECT gen_random_uuid(), 1, '', array_to_tsvector(ARRAY['rivet', '#' || part, '%' || part / 32])
      FROM generate_series(1, 50) CROSS JOIN generate_series(0, 1023) AS part`);
    for (const filter of ['price=gte:0', 'price=lt:0.05', 'inStock=true']) {
      const { body } = await catalogue.client.get(`/v1/products?q=rivets&${filter}&facets=brand`);
      expect(body).toMatchObject({
        code: 'query-too-costly',
        exceeded: [{ bound: 'facets', maximum: 50_000, actual: 51_200 }],
        nearest: `q=rivets&${filter}`,
      });
    }
    expect(await facetsOf('q=rivets&brand=Acme&price=gte:0&facets=brand')).toEqual({ brand: [] });
  });
});
