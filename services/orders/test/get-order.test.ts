// GET /v1/orders/{orderId}, by status.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;
let id: string;

beforeAll(async () => {
  shop = await startShop();
  customer = await shop.customer();
  id = (await shop.order(customer, { [await shop.product()]: 1 })).body.id;
});
afterAll(() => shop.stop());

describe('200', () => {
  it('GET /v1/orders/{orderId} shows the owner the order, with its version', async () => {
    const answer = await shop.view(customer, id);
    expect(answer.status).toBe(200);
    expect(answer.headers.etag).toBe('W/"1"');
    expect(answer.headers.vary).toBe('Authorization');
    expect(answer.body).toMatchObject({ id, accountId: customer.accountId, allowedActions: ['cancel'] });
  });

  it("GET /v1/orders/{orderId} shows staff any account's order, with the actions of staff", async () => {
    expect((await shop.view(shop.staff, id)).body).toMatchObject({ id, allowedActions: ['cancel', 'process'] });
    const reader = await shop.customer('orders:read-all');
    expect((await shop.view(reader, id)).body).toMatchObject({ id, allowedActions: [] });
  });

  it('GET /v1/orders/{orderId} lists the permitted actions in each state', async () => {
    const owner = await shop.customer();
    const both = { ...owner, token: await shop.services.issuer.sign({ ...owner, scopes: ['orders:fulfil'] }) };
    const { body } = await shop.order(owner, { [await shop.product()]: 1 });
    const seen = async () => (await shop.view(both, body.id)).body.allowedActions;
    expect(await seen()).toEqual(['cancel', 'process']);
    await shop.act(both, body.id, 'process');
    expect(await seen()).toEqual(['cancel', 'ship']);
    await shop.act(both, body.id, 'ship');
    expect(await seen()).toEqual(['deliver']);
    await shop.act(both, body.id, 'deliver');
    expect(await seen()).toEqual([]);
  });

  it('HEAD returns the headers of GET /v1/orders/{orderId} without a body', async () => {
    const answer = await shop.orders.call('HEAD', `/v1/orders/${id}`, { token: customer.token });
    expect([answer.status, answer.text, answer.headers.etag]).toEqual([200, '', 'W/"1"']);
  });
});

describe('304', () => {
  it.each(['W/"1"', '"1"'])(
    'GET /v1/orders/{orderId} returns 304 when the client has the present version %s',
    async (tag) => {
      const headers = { 'If-None-Match': tag };
      const same = await shop.orders.get(`/v1/orders/${id}`, { token: customer.token, headers });
      expect([same.status, same.text]).toEqual([304, '']);
      const other = { 'If-None-Match': '"7"' };
      expect((await shop.orders.get(`/v1/orders/${id}`, { token: customer.token, headers: other })).status).toBe(200);
    },
  );
});

describe('401', () => {
  it('GET /v1/orders/{orderId} returns 401 for a request without a valid token', async () => {
    expect((await shop.orders.get(`/v1/orders/${id}`)).status).toBe(401);
    expect((await shop.orders.get(`/v1/orders/${id}`, { token: await shop.services.issuer.forge() })).status).toBe(401);
  });
});

describe('404', () => {
  it("GET /v1/orders/{orderId} returns the same bytes for another account's order and for an unknown order", async () => {
    const other = await shop.customer();
    const headers = { 'X-Request-Id': 'the-same' };
    for (const path of ['', '/history']) {
      const foreign = await shop.orders.get(`/v1/orders/${id}${path}`, { token: other.token, headers });
      const absent = await shop.orders.get(`/v1/orders/${newId()}${path}`, { token: other.token, headers });
      const { date: _, ...foreignHeaders } = foreign.headers;
      const { date: __, ...absentHeaders } = absent.headers;
      expect(foreign.status).toBe(404);
      expect(foreign.text).toBe(absent.text);
      expect(foreignHeaders).toEqual(absentHeaders);
    }
  });

  it('GET /v1/orders/{orderId} returns 404 to staff with only the scope orders:fulfil', async () => {
    const packer = await shop.customer('orders:fulfil');
    expect((await shop.view(packer, id)).status).toBe(404);
  });

  it.each(['1', 'me', 'ABCDEF00-0000-7000-8000-000000000000', '%00', '..%2f..'])(
    'the unknown order %s returns 404',
    async (unknown) => {
      expect((await shop.orders.get(`/v1/orders/${unknown}`, { token: customer.token })).status).toBe(404);
    },
  );
});
