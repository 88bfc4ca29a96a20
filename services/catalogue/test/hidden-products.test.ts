// Pending products: customers neither list nor find them; staff does.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startServices, type TestClient, type TestServices } from '@shop/shared/testing';
import { addProducts, staffToken } from './products.ts';

let services: TestServices;
let client: TestClient;
let staff: string;
let shown: string;
let hidden: string;

beforeAll(async () => {
  services = await startServices(['catalogue']);
  client = services.service('catalogue').client;
  staff = await staffToken(services);
  [shown = '', hidden = ''] = await addProducts(services, [
    { name: 'Kettle', stock: 1 },
    { name: 'Lamp', status: 'pending', stock: 1 },
  ]);
});

afterAll(() => services.stop());

const names = async (query: string, token?: string) => {
  const { status, body } = await client.get(`/v1/products${query}`, token === undefined ? {} : { token });
  expect(status).toBe(200);
  return body.items.map(({ name }) => name);
};

it.each([
  '',
  '?status=pending,available',
  '?sort=price:asc',
  '?name=Lamp,Kettle',
  '?inStock=true',
  '?status=ne:active',
])('staff find a hidden product in the list %s, and customers do not', async (query) => {
  const customer = await services.issuer.sign();
  expect(await names(query)).toEqual(['Kettle']);
  expect(await names(query, customer)).toEqual(['Kettle']);
  expect((await names(query, staff)).sort()).toEqual(['Kettle', 'Lamp']);
});

it('a hidden product is found by its id and its status by staff only', async () => {
  expect(await names(`?id=${hidden},${shown}`)).toEqual(['Kettle']);
  expect(await names('?status=pending')).toEqual([]);
  expect(await names(`?id=${hidden}&status=pending`, staff)).toEqual(['Lamp']);
  const or = [{ status: { eq: 'pending' } }, { name: { eq: 'Lamp' } }];
  const body = { filters: { or } };
  expect((await client.post('/v1/products/search', { body })).body.items).toEqual([]);
  expect((await client.post('/v1/products/search', { body, token: staff })).body.items).toHaveLength(1);
});

it('a hidden product is found by its words and counted in facets for staff only, and not counted among brands', async () => {
  expect(await names('?q=lamp')).toEqual([]);
  expect(await names('?q=lamp&sort=price:asc')).toEqual([]);
  expect(await names('?q=lamp', staff)).toEqual(['Lamp']);
  const count = async (token?: string) => {
    const { body } = await client.get('/v1/products?facets=brand', token === undefined ? {} : { token });
    return body.facets;
  };
  expect(await count()).toEqual({ brand: [{ value: 'Acme', count: 1 }] });
  expect(await count(staff)).toEqual({ brand: [{ value: 'Acme', count: 2 }] });
  expect((await client.get('/v1/brands', { token: staff })).body.items).toEqual([{ name: 'Acme', count: 1 }]);
});

describe('the words of a product', () => {
  const change = (id: string, body: Record<string, unknown>) =>
    client.patch(`/v1/products/${id}`, { token: staff, body });
  const hide = {
    pending: (id: string) => change(id, { status: 'pending' }),
    archived: (id: string) => client.call('DELETE', `/v1/products/${id}`, { token: staff }),
    renamed: (id: string) => change(id, { name: 'Carpet' }),
  };

  it.each(['pending', 'archived', 'renamed'] as const)(
    'customers cannot find the words of a product when it is %s',
    async (state) => {
      const [visible = '', ...others] = await addProducts(services, [
        { name: 'Samovar' },
        { name: 'Samovor' },
        { name: 'Trambolene' },
      ]);
      expect(await names('?q=samovor')).toEqual(['Samovor']);
      expect(await names('?q=samovar+trambolin')).toEqual([]);
      for (const id of others) await hide[state](id);
      expect(await names('?q=samovor')).toEqual(['Samovar']);
      expect(await names('?q=samovorr')).toEqual(['Samovar']);
      expect(await names('?q=samovar+trambolin')).toEqual(['Samovar']);
      expect(await names('?q=samovar+trambolene')).toEqual(['Samovar']);
      if (state !== 'renamed') expect(await names('?q=samovor', staff)).toEqual(['Samovor']);
      for (const id of [visible, ...others]) await change(id, { archived: false, name: 'Carpet', status: 'pending' });
    },
  );
});

describe('404', () => {
  it('a customer who requests a hidden product gets 404 with the same text as for an unknown product', async () => {
    const unknown = await client.get('/v1/products/00000000-0000-7000-8000-000000000000');
    for (const options of [{}, { token: await services.issuer.sign() }, { headers: { 'If-None-Match': '*' } }]) {
      const answer = await client.get(`/v1/products/${hidden}`, options);
      expect(answer).toMatchObject({ status: 404, body: { code: 'not-found', detail: unknown.body.detail } });
    }
    expect((await client.get(`/v1/products/${hidden}`, { token: staff })).status).toBe(200);
  });

  it('a hidden product no longer returns 404 after it is for sale', async () => {
    const answer = await client.patch(`/v1/products/${hidden}`, { token: staff, body: { status: 'active' } });
    expect(answer.status).toBe(200);
    expect((await client.get(`/v1/products/${hidden}`)).body.name).toBe('Lamp');
    await client.patch(`/v1/products/${hidden}`, { token: staff, body: { status: 'pending' } });
    expect((await client.get(`/v1/products/${hidden}`)).status).toBe(404);
  });
});
