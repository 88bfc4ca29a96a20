// The further members that staff sees of a product, and that no cache serves them to a customer.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import type { TestAnswer, TestClient } from '@shop/shared/testing';
import { type Inventory, startInventory } from './inventory.ts';
import { addProducts, staffToken } from './products.ts';

let inventory: Inventory;
let client: TestClient;
let id: string;
const tokens = new Map<string, string>();

beforeAll(async () => {
  inventory = await startInventory();
  const { services } = inventory;
  ({ client } = services.service('catalogue'));
  const scopes = ['catalogue:write'];
  tokens.set('staff', await staffToken(services));
  tokens.set('customer', await services.issuer.sign());
  tokens.set('other staff', await services.issuer.sign({ scopes: ['orders:read-all', 'orders:fulfil'] }));
  tokens.set('expired staff', await services.issuer.sign({ scopes, expiresIn: -60 }));
  tokens.set('forged staff', await services.issuer.forge({ scopes }));
  tokens.set('nonsense', 'x');
  [id = ''] = await addProducts(services, [{ name: 'Cup', stock: 9, lowStockThreshold: 4 }, { name: 'Pan' }]);
  await inventory.reserve(newId(), { [id]: 2 });
});
afterAll(() => inventory.stop());

const as = (who: string) => {
  const token = tokens.get(who);
  return token === undefined ? {} : { token };
};
const single = (who: string, headers = {}) => client.get(`/v1/products/${id}`, { ...as(who), headers });
const list = (who: string, query = '') => client.get(`/v1/products?name=Cup${query}`, as(who));
const search = (who: string, body = {}) =>
  client.post('/v1/products/search', { ...as(who), body: { filters: { name: { eq: 'Cup' } }, ...body } });
const itemOf = ({ body }: TestAnswer): Record<string, unknown> => body.items[0] ?? {};

const forStaff = { stock: { onHand: 9, promised: 2, available: 7 }, lowStockThreshold: 4 };
const customers = ['nobody', 'customer', 'other staff', 'expired staff', 'forged staff', 'nonsense'];

describe('staff', () => {
  it('staff see the stock and its threshold in the product, the list and the search', async () => {
    const product = await single('staff');
    expect(product.body).toMatchObject({ id, inStock: true, ...forStaff });
    expect(itemOf(await list('staff'))).toEqual(product.body);
    expect(itemOf(await search('staff'))).toEqual(product.body);
    const figures = await client.get(`/v1/products/${id}/stock`, as('staff'));
    expect(figures.body).toEqual({ productId: id, ...forStaff.stock });
  });

  it('staff see no threshold of a product without one', async () => {
    const { body } = await client.get('/v1/products?name=Pan', as('staff'));
    expect(body.items[0]).toMatchObject({ stock: { onHand: 0, promised: 0, available: 0 } });
    expect(body.items[0]).not.toHaveProperty('lowStockThreshold');
  });

  it('staff select the members with fields', async () => {
    expect(itemOf(await list('staff', '&fields=id,stock'))).toEqual({ id, stock: forStaff.stock });
    expect(itemOf(await search('staff', { fields: ['lowStockThreshold', 'name'] }))).toEqual({
      lowStockThreshold: 4,
      name: 'Cup',
    });
    expect(itemOf(await list('staff', '&fields=id'))).toEqual({ id });
  });

  it('staff get a new tag when units move, and 304 until then', async () => {
    const { etag = '' } = (await single('staff')).headers;
    expect(etag).toBe('W/"1.9.2"');
    expect(await single('staff', { 'If-None-Match': etag })).toMatchObject({ status: 304, headers: { etag } });
    const reservation = newId();
    await inventory.reserve(reservation, { [id]: 1 });
    expect(await single('staff', { 'If-None-Match': etag })).toMatchObject({
      status: 200,
      headers: { etag: 'W/"1.9.3"' },
      body: { stock: { promised: 3 } },
    });
    await inventory.release(reservation);
    expect((await single('staff', { 'If-None-Match': etag })).status).toBe(304);
  });

  it('staff get responses that no shared cache may store', async () => {
    for (const { headers } of [await single('staff'), await list('staff'), await search('staff')])
      expect([headers['cache-control'], headers.vary]).toEqual(['private, no-cache', 'Authorization']);
  });
});

const invalid = new Map([
  ['expired staff', 'The access token has expired.'],
  ['forged staff', 'The access token is not valid.'],
  ['nonsense', 'The access token is not valid.'],
]);

describe.each(['staff', ...customers])('%s', (who) => {
  it('the response tells a caller that its token is invalid, and is otherwise that for customers', async () => {
    const detail = invalid.get(who);
    const challenge = detail && `Bearer realm="shop", error="invalid_token", error_description="${detail}"`;
    const { etag = '' } = (await single(who)).headers;
    const answers = [
      await single(who),
      await list(who),
      await search(who),
      await single(who, { 'If-None-Match': etag }),
    ];
    expect(answers.map(({ status, headers }) => [status, headers['www-authenticate']])).toEqual(
      [200, 200, 200, 304].map((status) => [status, challenge]),
    );
    for (const { headers } of [await list('nobody'), await search('nobody')])
      expect(headers['www-authenticate']).toBeUndefined();
  });

  it('an error response also states that the token is invalid, because a valid one might have succeeded', async () => {
    const isInvalid = invalid.has(who);
    for (const path of [`/v1/products/${newId()}`, '/v1/products?sort=stock:asc']) {
      const { status, headers } = await client.get(path, as(who));
      expect([404, 400]).toContain(status);
      expect(headers['www-authenticate']?.includes('invalid_token') ?? false).toBe(isInvalid);
    }
  });
});

describe.each(customers)('%s', (who) => {
  it('a caller without the scope of staff sees neither stock nor threshold, and gets the tag of customers', async () => {
    const { body, headers } = await single(who);
    const { stock: _stock, lowStockThreshold: _threshold, ...visible } = (await single('staff')).body;
    expect(body).toEqual(visible);
    expect(itemOf(await list(who))).toEqual(visible);
    expect(itemOf(await search(who))).toEqual(visible);
    expect(headers.etag).toBe('"1"');
  });

  it('a caller without the scope of staff cannot select, filter or sort by stock and threshold', async () => {
    const answers = [
      await list(who, '&fields=id,stock'),
      await search(who, { fields: ['lowStockThreshold'] }),
      await list(who, '&stock=gte:1'),
      await list(who, '&sort=stock:asc'),
    ];
    for (const { status, text } of answers) {
      expect([status, text]).toEqual([400, expect.stringMatching(/"stock|"lowStockThreshold/)]);
    }
  });

  it('a caller without the scope of staff gets the whole product where staff would get 304', async () => {
    const { etag = '' } = (await single('staff')).headers;
    expect((await single(who, { 'If-None-Match': etag })).status).toBe(200);
    expect((await single('staff', { 'If-None-Match': '"1"' })).status).toBe(200);
  });

  it('responses vary by the token, so that caches separate them', async () => {
    for (const { headers } of [await single(who), await list(who), await search(who)])
      expect([headers['cache-control'], headers.vary]).toEqual(['no-cache', 'Authorization']);
  });
});

it('a cursor of staff continues the list of a customer, without the members of staff', async () => {
  const first = await client.get('/v1/products?limit=1&sort=name:asc', as('staff'));
  const next = `/v1/products?limit=1&sort=name:asc&cursor=${first.body.pagination.nextCursor}`;
  expect([itemOf(first).name, itemOf(await client.get(next, as('staff'))).name]).toEqual(['Cup', 'Pan']);
  expect(itemOf(await client.get(next))).not.toHaveProperty('stock');
});

it('a threshold is set, changed and removed by a patch, each time with a new version', async () => {
  const [pan = ''] = await addProducts(inventory.services, [{ name: 'Pot', stock: 3 }]);
  const patch = async (lowStockThreshold: unknown) => {
    const answer = await client.patch(`/v1/products/${pan}`, { ...as('staff'), body: { lowStockThreshold } });
    return [answer.status, answer.headers.etag, answer.body.lowStockThreshold];
  };
  expect(await patch(2)).toEqual([200, 'W/"2.3.0"', 2]);
  expect(await patch(2)).toEqual([200, 'W/"2.3.0"', 2]);
  expect(await patch(0)).toEqual([200, 'W/"3.3.0"', 0]);
  expect(await patch(null)).toEqual([200, 'W/"4.3.0"', undefined]);
  for (const wrong of [-1, 1.5, '2', 1_000_000_001]) expect((await patch(wrong))[0]).toBe(400);
});
