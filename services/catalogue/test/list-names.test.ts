// GET /v1/brands, GET /v1/categories
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startServices, type TestService, type TestServices } from '@shop/shared/testing';
import { addProducts } from './products.ts';

let services: TestServices;
let catalogue: TestService;

const insert = `
  INSERT INTO products (id, name, brand, category, price_minor, status)
  SELECT gen_random_uuid(), 'Nail', 'Many', 'Nails ' || n % 2, 1, 'active' FROM generate_series(1, 2001) AS n`;

beforeAll(async () => {
  services = await startServices(['catalogue']);
  catalogue = services.service('catalogue');
  await addProducts(services, [
    { name: 'Kettle', brand: 'Acme', category: 'kitchen' },
    { name: 'Mug', brand: 'Acme', category: 'kitchen' },
    { name: 'Lamp', brand: 'Émile', category: 'light' },
    { name: 'Bulb', brand: 'acme', category: 'light' },
  ]);
  await catalogue.database.query(insert);
});

afterAll(() => services.stop());

describe('200', () => {
  it.each([
    [
      '/v1/brands',
      [
        ['Acme', 2],
        ['Many', '1000+'],
        ['acme', 1],
        ['Émile', 1],
      ],
    ],
    [
      '/v1/brands?sort=name:desc',
      [
        ['Émile', 1],
        ['acme', 1],
        ['Many', '1000+'],
        ['Acme', 2],
      ],
    ],
    [
      '/v1/categories',
      [
        ['Nails 0', 1000],
        ['Nails 1', '1000+'],
        ['kitchen', 2],
        ['light', 2],
      ],
    ],
  ])('GET %s returns the names with their counts', async (path, expected) => {
    const { status, body } = await catalogue.client.get(path);
    expect(status).toBe(200);
    expect(body.items.map(({ name, count }) => [name, count])).toEqual(expected);
    expect(body.pagination).toEqual({ limit: 20, hasMore: false });
  });

  it.each(['asc', 'desc'])(
    'the pages of brands and categories are complete in the order name:%s while brands are added and removed',
    async (direction) => {
      const seen: string[] = [];
      let next = `/v1/brands?limit=1&fields=name&sort=name:${direction}`;
      while (next !== '') {
        const { headers, body } = await catalogue.client.get(next);
        seen.push(...body.items.map(({ name }) => name));
        expect(Object.keys(body.items[0] ?? {})).toEqual(['name']);
        [, next = ''] = /^<(.*)>; rel="next"$/.exec(headers.link ?? '') ?? [];
        await addProducts(services, [{ name: 'A', brand: 'Acme' }]);
        await catalogue.database.query("DELETE FROM stock_ledger; DELETE FROM products WHERE brand = 'acme'");
      }
      expect(seen.filter((name) => name !== 'acme')).toEqual(
        direction === 'asc' ? ['Acme', 'Many', 'Émile'] : ['Émile', 'Many', 'Acme'],
      );
    },
  );

  it('GET /v1/brands and /v1/categories return an empty page without products', async () => {
    await catalogue.database.query('DELETE FROM stock_ledger; DELETE FROM products');
    const { body } = await catalogue.client.get('/v1/categories');
    expect(body).toEqual({ items: [], pagination: { limit: 20, hasMore: false } });
    await catalogue.database.query(insert);
  });
});

describe('400', () => {
  it.each([
    'sort=count:asc',
    'sort=id:asc',
    'name=Acme',
    'brand=Acme',
    'q=a',
    'limit=0',
    'fields=id',
    'cursor=x',
    'page=2',
  ])('GET /v1/brands returns 400 for %s', async (query) => {
    const answer = await catalogue.client.get(`/v1/brands?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0]).toMatchObject({ parameter: query.split('=')[0] });
  });

  it('GET /v1/brands and /v1/categories return 400 for a cursor of the other list', async () => {
    const { body } = await catalogue.client.get('/v1/categories?limit=1');
    const answer = await catalogue.client.get(`/v1/brands?cursor=${body.pagination.nextCursor}`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-cursor' } });
  });
});
