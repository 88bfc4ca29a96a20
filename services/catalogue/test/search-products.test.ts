// POST /v1/products/search
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadContract } from '@shop/shared/contract';
import { newId } from '@shop/shared/runtime';
import { startServices, type TestClient, type TestServices } from '@shop/shared/testing';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { addProducts } from './products.ts';

let services: TestServices;
let client: TestClient;

beforeAll(async () => {
  services = await startServices(['catalogue']);
  client = services.service('catalogue').client;
  await addProducts(services, [
    { name: 'Kettle', brand: 'Acme', category: 'kitchen', price: 19.99, rating: 4.5, status: 'available' },
    { name: 'Mug', brand: 'Smith, "Sons"', category: 'kitchen', price: 5, status: 'active' },
    { name: 'Lamp', brand: 'Acme', category: 'light', price: 49.5, rating: 3.9, status: 'backorder' },
    { name: 'Bulb', brand: 'Lumen', category: 'light', price: 2.25, rating: 4.5, status: 'backorder' },
  ]);
});

afterAll(() => services.stop());

const search = (body: unknown) => client.post('/v1/products/search', { body });
const byPrice = [{ field: 'price', direction: 'asc' }];

describe('405', () => {
  it('GET /v1/products/search returns 405, because the path does not name a product', async () => {
    const answer = await fetch(`${services.service('catalogue').url}/v1/products/search`);
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST, OPTIONS');
  });
});

describe('200', () => {
  it.each([
    [{}, ['Bulb', 'Lamp', 'Mug', 'Kettle']],
    [{ filters: {} }, ['Bulb', 'Lamp', 'Mug', 'Kettle']],
    [{ filters: { price: { gte: 5, lt: 20 } } }, ['Mug', 'Kettle']],
    [{ filters: { brand: { in: ['Acme', 'Smith, "Sons"', 'Acme'] } } }, ['Lamp', 'Mug', 'Kettle']],
    [{ filters: { brand: { ne: 'Acme' }, category: { eq: 'light' } } }, ['Bulb']],
    [{ filters: { status: { ne: ['active', 'pending'] } } }, ['Bulb', 'Lamp', 'Kettle']],
    [{ filters: { inStock: { eq: false } } }, ['Bulb', 'Lamp', 'Mug', 'Kettle']],
    [{ filters: { inStock: { in: [true] } } }, []],
    [{ filters: { updatedAt: { lt: '2020-01-01T00:00:00Z' } } }, []],
    [
      { filters: { or: [{ price: { lt: 3 } }, { brand: { eq: 'Acme' }, rating: { gte: 4 } }] }, sort: byPrice },
      ['Bulb', 'Kettle'],
    ],
    [{ filters: { category: { eq: 'light' }, or: [{ price: { lt: 3 } }, { rating: { gte: 4 } }] } }, ['Bulb']],
    [{ sort: [{ field: 'rating', direction: 'desc' }, ...byPrice] }, ['Bulb', 'Kettle', 'Lamp', 'Mug']],
  ])('a search with the body %j returns the matching products', async (body, expected) => {
    const answer = await search(body);
    expect(answer.status).toBe(200);
    expect(answer.body.items.map(({ name }) => name)).toEqual(expected);
  });

  it('POST /v1/products/search pages by nextCursor, without a Link', async () => {
    const filters = { or: [{ price: { lt: 30 } }, { category: { eq: 'light' } }] };
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const answer = await search({
        filters,
        sort: byPrice,
        pagination: { limit: 3, ...(cursor ? { cursor } : {}) },
        fields: ['name'],
      });
      expect(answer.headers).not.toHaveProperty('link');
      seen.push(...answer.body.items.map(({ name }) => name));
      cursor = answer.body.pagination.nextCursor;
    } while (cursor);
    expect(seen).toEqual(['Bulb', 'Mug', 'Kettle', 'Lamp']);
  });
});

describe('400', () => {
  it.each([
    [{ filters: { stock: { gte: 1 } } }, '/filters/stock/gte'],
    [{ filters: { price: { gte: '1' } } }, '/filters/price/gte'],
    [{ filters: { price: { eq: 1.999 } } }, '/filters/price/eq'],
    [{ filters: { inStock: { eq: 'true' } } }, '/filters/inStock/eq'],
    [{ filters: { inStock: { ne: true } } }, '/filters/inStock/ne'],
    [{ filters: { id: { gt: newId() } } }, '/filters/id/gt'],
    [{ filters: { brand: { like: 'A%' } } }, '/filters/brand/like'],
    [{ filters: { or: [{ or: [] }] } }, '/filters/or/0/or'],
    [{ sort: [{ field: 'stock', direction: 'asc' }] }, '/sort/0'],
    [{ pagination: { offset: 3 } }, '/pagination/offset'],
    [{ limit: 3 }, '/limit'],
    [[], ''],
  ])('a search with the body %j returns 400 with a fault at %s', async (body, pointer) => {
    expect(await search(body)).toMatchObject({ status: 400, body: { code: 'invalid-request', errors: [{ pointer }] } });
  });

  it('POST /v1/products/search reports all faults together, including those of the URL', async () => {
    const body = { foo: 1, filters: { price: { gte: 'x' } }, pagination: { limit: 0 } };
    const answer = await client.post('/v1/products/search?page=2', { body });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        detail: expect.stringMatching(/^page is not a known parameter.* \(and 3 more\)\.$/),
        errors: [
          { parameter: 'page' },
          { pointer: '/foo' },
          { pointer: '/filters/price/gte' },
          { pointer: '/pagination/limit' },
        ],
      },
    });
  });

  it.each([
    ['', ['']],
    ['{', ['']],
    ['{"filters":{"price":{"eq":1e400}}}', ['/filters/price/eq']],
    ['{"filters":{"price":{"eq":19.990000000000000001}}}', ['/filters/price/eq']],
    ['{"filters":{"price":{"gte":1,"gte":5}}}', ['/filters/price/gte']],
    ['{"filters":{"__proto__":{"eq":1}}}', ['/filters/__proto__']],
    [
      '{"filters":{"brand":{"eq":"\\u0000"}},"fields":["\\ud800"],"sort":7}',
      ['/fields/0', '/filters/brand/eq', '/sort'],
    ],
  ])('POST /v1/products/search returns 400 for the body %j', async (rawBody, pointers) => {
    const { status, body } = await client.post('/v1/products/search', { rawBody });
    expect(status).toBe(400);
    expect(body.errors.map(({ pointer }) => pointer).sort()).toEqual(pointers);
  });

  it('POST /v1/products/search returns 400 for a cursor of another search', async () => {
    const { body } = await search({ pagination: { limit: 1 } });
    const answer = await search({ filters: { price: { gt: 0 } }, pagination: { cursor: body.pagination.nextCursor } });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'invalid-cursor', errors: [{ pointer: '/pagination/cursor' }] },
    });
  });
});

describe('the document', () => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema(loadContract(new URL('../openapi.yaml', import.meta.url)).document, 'contract');
  const allows = ajv.compile({ $ref: 'contract#/components/schemas/ProductSearch' });
  const times = (...moments: string[]) => moments.map((eq) => ({ createdAt: { eq } }));

  it.each([
    ...['brand', 'category', 'name'].flatMap((field) =>
      [100, 101, 200, 201].map((length) => ({ [field]: { in: ['é', 'x'.repeat(length)] } })),
    ),
    { brand: { ne: 'x'.repeat(101) } },
    { category: { ne: ['x'.repeat(101)] } },
    { or: [{ brand: { eq: 'x'.repeat(101) } }] },
    ...times('2026-11-21T03:00:00Z', '2026-11-21T03:00:00.1Z', '2026-11-21T03:00:00.123+05:30'),
    ...times('2026-11-21T03:00:00.123456Z', '2016-12-31T23:59:60Z', '2026-11-21T24:00:00Z', '2026-02-30T00:00:00Z'),
    ...times('2026-11-21T03:00:00+23:59', '2026-11-21T03:00:00+24:00', '2026-11-21T03:00:00+05:60'),
    ...times('2024-02-29T00:00:00Z', '2026-02-29T00:00:00Z', '2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z'),
    ...times('2026-11-00T03:00:00Z', '2026-11-21t03:00:00z', '2026-11-21 03:00:00Z', '2026-11-21T03:00Z', '2026-11-21'),
    { createdAt: { ne: ['2026-11-21T03:00:00.123456Z'] } },
    { createdAt: { in: ['2026-11-21T03:00:00.123456Z'] } },
    ...['10', '19.99', '-1'].map((text) => ({ price: { in: [5, text] } })),
    { price: { eq: '10' } },
    { rating: { ne: ['4'] } },
    { inStock: { in: ['true', 'false', true] } },
    { inStock: { eq: 'true' } },
  ])('the document permits %j exactly when the operation accepts it', async (filters) => {
    expect((await search({ filters })).status).toBe(allows({ filters }) ? 200 : 400);
  });
});

describe('413, 415', () => {
  it('POST /v1/products/search rejects a body that is too large or is not JSON', async () => {
    const rawBody = JSON.stringify({ filters: { brand: { eq: 'x'.repeat(110_000) } } });
    expect((await client.post('/v1/products/search', { rawBody })).status).toBe(413);
    const headers = { 'Content-Type': 'text/plain' };
    expect((await client.post('/v1/products/search', { rawBody: '{}', headers })).status).toBe(415);
  });
});

describe('422', () => {
  it('POST /v1/products/search proposes the nearest search that is accepted', async () => {
    const or = Array.from({ length: 6 }, (_, index) => ({ price: { eq: index } }));
    const answer = await search({ filters: { or } });
    expect(answer).toMatchObject({ status: 422, body: { exceeded: [{ bound: 'groups', maximum: 5, actual: 6 }] } });
    expect((await search(answer.body.nearest)).status).toBe(200);
  });

  it('POST /v1/products/search proposes an accepted search also when every list of a large search exceeds its bound', async () => {
    const list = (count: number) => ({ in: Array.from({ length: count }, (_, index) => `a${index}`) });
    const lists = (count: number) => ({ brand: list(count), category: list(count), name: list(count) });
    const or = (count: number) => ({ filters: { or: Array.from({ length: 5 }, () => lists(count)) } });
    expect((await search(or(100))).status).toBe(200);
    const answer = await search(or(110));
    expect(answer).toMatchObject({ status: 422, body: { code: 'query-too-costly' } });
    expect((await search(answer.body.nearest)).status).toBe(200);
  });
});
