// GET /v1/products?id=…: the products of a cart in one request.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { startServices, type TestClient, type TestServices } from '@shop/shared/testing';
import { addProducts } from './products.ts';

let services: TestServices;
let client: TestClient;
let ids: string[];

beforeAll(async () => {
  services = await startServices(['catalogue']);
  client = services.service('catalogue').client;
  ids = await addProducts(
    services,
    Array.from({ length: 30 }, (_, index) => ({ name: `Product ${index}`, brand: index % 2 ? 'Acme' : 'Lumen' })),
  );
});

afterAll(() => services.stop());

const found = async (query: string): Promise<unknown[]> => {
  const answer = await client.get(`/v1/products?${query}`);
  expect(answer.status).toBe(200);
  return answer.body.items.map(({ id }) => id);
};

describe('200', () => {
  it('GET /v1/products with a list of ids lists thirty products by their ids, in the order of the list', async () => {
    expect(await found(`id=in:${ids}&limit=100`)).toEqual([...ids].reverse());
    expect(await found(`id=${ids}&limit=100&sort=id:asc`)).toEqual(ids);
  });

  it('GET /v1/products with a list of ids leaves out unknown ids, and combines ids with every other filter, page by page', async () => {
    expect(await found(`id=${newId()}`)).toEqual([]);
    const acme = ids.filter((_, index) => index % 2);
    expect(await found(`id=${ids},${newId()}&brand=Acme&limit=100&sort=createdAt:asc`)).toEqual(acme);
    const { body } = await client.get(
      `/v1/products?id=${ids}&brand=Acme,Lumen&limit=20&sort=rating:desc,price:asc,id:asc`,
    );
    const { nextCursor } = body.pagination;
    const rest = `id=${ids}&brand=Acme,Lumen&limit=20&sort=rating:desc,price:asc,id:asc&cursor=${nextCursor}`;
    expect([...body.items.map(({ id }) => id), ...(await found(rest))]).toEqual(ids);
  });

  it('ids in capital letters match their lower case in pages and searches, and are written in lower case', async () => {
    const capitals = ids.map((id) => id.toUpperCase());
    const first = await client.get(`/v1/products?id=${capitals}&limit=20&sort=id:asc`);
    const { nextCursor } = first.body.pagination;
    const rest = await found(`id=in:${ids}&limit=20&sort=id:asc&cursor=${nextCursor}`);
    expect([...first.body.items.map(({ id }) => id), ...rest]).toEqual(ids);
    const body = { filters: { id: { in: capitals.slice(0, 2) } }, sort: [{ field: 'id', direction: 'asc' }] };
    const searched = await client.post('/v1/products/search', { body });
    expect(searched.body.items.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect((await client.get(`/v1/products/${capitals[0]}`)).body.id).toBe(ids[0]);
  });

  it('ids can be combined with alternatives in a search', async () => {
    const or = [
      { id: { in: ids.slice(0, 2) } },
      { id: { eq: ids[1] }, brand: { eq: 'Acme' } },
      { status: { eq: 'pending' } },
    ];
    const { body } = await client.post('/v1/products/search', { body: { filters: { or } } });
    expect(body.items.map(({ id }) => id)).toEqual([ids[1], ids[0]]);
  });
});

describe('422', () => {
  it('GET /v1/products with a list of ids proposes the first hundred in the order of the client, and queries for all of them', async () => {
    const asked = [...Array.from({ length: 120 }, newId), ...ids].reverse();
    const { status, body } = await client.get(`/v1/products?id=${asked}&sort=createdAt:asc&limit=100`);
    expect(status).toBe(422);
    expect(new URLSearchParams(String(body.nearest)).get('id')).toBe(asked.slice(0, 100).join());
    const split: unknown[] = Array.isArray(body.split) ? body.split : [];
    expect(split.map((each) => new URLSearchParams(String(each)).get('id'))).toEqual([
      asked.slice(0, 100).join(),
      asked.slice(100).join(),
    ]);
    const all = await Promise.all(split.map((each) => found(String(each))));
    expect(all.flat().sort()).toEqual([...ids].sort());
  });

  it('GET /v1/products with a list of ids proposes no queries instead of one with too many conditions', async () => {
    const { status, body } = await client.get(`/v1/products?price=${Array.from({ length: 21 }, (_, n) => `ne:${n}`)}`);
    expect(status).toBe(422);
    expect(body).not.toHaveProperty('split');
  });
});
