// Entity tags of pages: If-None-Match with GET /v1/products and POST /v1/products/search.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startServices, type TestClient, type TestServices } from '@shop/shared/testing';
import { addProducts, staffToken } from './products.ts';

let services: TestServices;
let client: TestClient;
let ids: string[];

beforeAll(async () => {
  services = await startServices(['catalogue']);
  client = services.service('catalogue').client;
  ids = await addProducts(
    services,
    ['Kettle', 'Mug', 'Lamp'].map((name, index) => ({ name, price: 10 + index, stock: 5 })),
  );
});
afterAll(() => services.stop());

type Ask = (tag?: string) => ReturnType<TestClient['get']>;
const conditional = (tag: string | undefined) => (tag === undefined ? {} : { 'If-None-Match': tag });

const list =
  (query: string): Ask =>
  (tag) =>
    client.get(`/v1/products${query}`, { headers: conditional(tag) });
const search =
  (body: object): Ask =>
  (tag) =>
    client.post('/v1/products/search', { body, headers: conditional(tag) });

/** A page that is followed by another one, the last page, and an empty page. */
const requests: [string, Ask][] = [
  ['a list with a next page', list('?sort=price:asc&limit=2')],
  ['the last page of a list', list('?sort=price:asc')],
  ['a list that excludes every product', list('?price=gt:20,lt:10')],
  ['a search with a next page', search({ sort: [{ field: 'price', direction: 'asc' }], pagination: { limit: 2 } })],
  ['the last page of a search', search({ filters: { brand: { eq: 'Acme' } } })],
];

describe('304', () => {
  it.each(requests)('GET /v1/products returns 304 for %s that has not changed', async (_, ask) => {
    const first = await ask();
    const tag = first.headers.etag ?? '';
    expect(first).toMatchObject({ status: 200, headers: { etag: expect.stringMatching(/^"[\w-]{43}"$/) } });
    expect(await ask(tag)).toMatchObject({ status: 304, text: '', headers: { etag: tag } });
    expect(await ask(`"other", W/${tag}`)).toMatchObject({ status: 304, text: '' });
  });

  it('a 304 of a page has the link to the next page', async () => {
    const ask = list('?sort=price:asc&limit=2');
    const first = await ask();
    expect(first.headers.link).toMatch(/rel="next"/);
    expect((await ask(first.headers.etag)).headers.link).toBe(first.headers.link);
  });

  it('HEAD of /v1/products returns 304, too', async () => {
    const { etag } = (await client.get('/v1/products')).headers;
    const headers = conditional(etag);
    const answer = await fetch(`${services.service('catalogue').url}/v1/products`, { method: 'HEAD', headers });
    expect(answer.status).toBe(304);
  });
});

describe('200', () => {
  it.each(requests.filter(([name]) => !name.includes('excludes')))(
    'GET /v1/products returns 200 and a new tag to %s after a change of a product on the page',
    async (_, ask) => {
      const before = await ask();
      const path = `/v1/products/${ids[0]}`;
      const price = 1 + Number(before.body.items.find(({ id }) => id === ids[0])?.price) / 2;
      const token = await staffToken(services);
      expect(await client.patch(path, { token, body: { price } })).toMatchObject({ status: 200 });
      const after = await ask(before.headers.etag);
      expect(after.status).toBe(200);
      expect(after.headers.etag).not.toBe(before.headers.etag);
    },
  );

  it('GET /v1/products returns 200 with the tag of another page of the same list', async () => {
    const first = await client.get('/v1/products?limit=1');
    const next = await client.get(`/v1/products?limit=1&cursor=${first.body.pagination.nextCursor}`, {
      headers: conditional(first.headers.etag),
    });
    expect(next.status).toBe(200);
  });

  it('GET /v1/products returns 200 to staff that sends the tag of a customer', async () => {
    const { etag } = (await client.get('/v1/products')).headers;
    const token = await staffToken(services);
    const answer = await client.get('/v1/products', { token, headers: conditional(etag) });
    expect(answer.status).toBe(200);
    expect(answer.headers.etag).not.toBe(etag);
  });
});

describe('400', () => {
  it.each(requests)('GET /v1/products returns 400 to %s with a header that is not a list of tags', async (_, ask) => {
    expect(await ask('W/abc')).toMatchObject({
      status: 400,
      body: { errors: [{ header: 'If-None-Match', detail: expect.any(String) }] },
    });
  });
});
