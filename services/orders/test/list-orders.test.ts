// GET /v1/orders, by status.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { statuses } from '../src/order/order-status.ts';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;
let other: Customer;
/**
 * Orders of `customer`, oldest first: 10, 20, 30, 40 and 50 euros; the second is cancelled, the third is processing.
 */
const ids: string[] = [];
/** The newest order, which `other` placed: 10 euros, pending. Its number in `numbers` is 0. */
let foreign: string;

beforeAll(async () => {
  shop = await startShop();
  [customer, other] = [await shop.customer(), await shop.customer()];
  const cup = await shop.product({ price: 10, stock: 1000 });
  for (const quantity of [1, 2, 3, 4, 5]) ids.push((await shop.order(customer, { [cup]: quantity })).body.id);
  foreign = (await shop.order(other, { [cup]: 1 })).body.id;
  // The cancellation comes last, so that the release of its stock is the last change of all.
  await shop.act(shop.staff, ids[2] ?? '', 'process');
  await shop.act(customer, ids[1] ?? '', 'cancel', { body: { cancellation_reason: 'Zu spät "bestellt"' } });
  await eventually(async () => {
    const { body } = await shop.view(customer, ids[1] ?? '');
    expect(body.cancellation.stockReleased.state).toBe('done');
  });
});
afterAll(() => shop.stop());

const list = (query = '', who = customer) => shop.orders.get(`/v1/orders${query}`, { token: who.token });
/** Returns the numbers of the listed orders, from 1 for the oldest. */
const numbers = async (query: string, who = customer): Promise<number[]> => {
  const { body } = await list(query, who);
  return body.items.map(({ id }) => ids.indexOf(id) + 1);
};

describe('200', () => {
  it("GET /v1/orders lists the caller's own orders, newest first", async () => {
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(body.items.map(({ id }) => id)).toEqual([...ids].reverse());
    expect(body.pagination).toEqual({ limit: 20, hasMore: false });
  });

  it('GET /v1/orders reads ids in capitals as their lower case', async () => {
    const [id = '', account] = [ids[0], customer.accountId.toUpperCase()];
    expect(await numbers(`?id=${id.toUpperCase()}&accountId=${account}`)).toEqual([1]);
    expect((await shop.view(customer, id.toUpperCase())).body.id).toBe(id);
  });

  it('GET /v1/orders returns each order as getOrder does', async () => {
    const { body } = await list();
    for (const item of body.items) expect(item).toEqual((await shop.view(customer, item.id)).body);
    expect(body.items[3]?.cancellation.reason).toBe('Zu spät "bestellt"');
  });

  it('GET /v1/orders returns 304 while no order on the page has changed, for the same caller only', async () => {
    const { etag = '' } = (await list()).headers;
    const again = (who = customer) =>
      shop.orders.get('/v1/orders', { token: who.token, headers: { 'If-None-Match': etag } });
    expect(await again()).toMatchObject({ status: 304, text: '', headers: { etag } });
    expect((await again(other)).status).toBe(200);
  });

  it("GET /v1/orders accepts me and the caller's own id as the account", async () => {
    expect(await numbers('?accountId=me')).toEqual([5, 4, 3, 2, 1]);
    expect(await numbers(`?accountId=${customer.accountId}`)).toEqual([5, 4, 3, 2, 1]);
  });

  it("GET /v1/orders lists another account's orders for staff, and still only that account's", async () => {
    expect(await numbers(`?accountId=${customer.accountId}`, shop.staff)).toEqual([5, 4, 3, 2, 1]);
    expect(await numbers('', shop.staff)).toEqual([]);
    expect((await list(`?accountId=${customer.accountId}`, shop.staff)).body.items[0]?.allowedActions).toEqual([
      'cancel',
      'process',
    ]);
  });

  it('GET /v1/orders lists the orders of all accounts for staff, with every member, and oldest first one sort away', async () => {
    const newest = await list('?accountId=all', shop.staff);
    expect([newest.status, newest.body.items.map(({ id }) => id)]).toEqual([200, [foreign, ...[...ids].reverse()]]);
    expect(newest.body.items.map(({ accountId }) => accountId).slice(0, 2)).toEqual([
      other.accountId,
      customer.accountId,
    ]);
    for (const item of newest.body.items) expect(item).toEqual((await shop.view(shop.staff, item.id)).body);
    const oldest = await list('?accountId=all&sort=createdAt:asc', shop.staff);
    expect(oldest.body.items.map(({ id }) => id)).toEqual([...ids, foreign]);
  });

  it('GET /v1/orders lists the orders of all accounts for staff that only reads', async () => {
    const reader = await shop.customer('orders:read-all');
    const { status, body } = await list('?accountId=all&limit=1', reader);
    expect([status, body.items.map(({ id }) => id), body.items[0]?.allowedActions]).toEqual([200, [foreign], []]);
  });

  it('GET /v1/orders filters and sorts the orders of all accounts', async () => {
    const { updatedAt } = (await shop.view(customer, ids[2] ?? '')).body;
    const cases: readonly [string, readonly number[]][] = [
      ['status=pending', [0, 5, 4, 1]],
      ['status=pending&sort=createdAt:asc', [1, 4, 5, 0]],
      ['status=ne:pending', [3, 2]],
      ['status=ne:pending,ne:cancelled', [3]],
      ['status=ne:pending,ne:cancelled,ne:processing,ne:shipped,ne:delivered', []],
      ['status=processing,cancelled&sort=createdAt:asc', [2, 3]],
      ['totalCost=gte:20,lt:40', [3, 2]],
      ['sort=totalCost:desc', [5, 4, 3, 2, 0, 1]],
      [`updatedAt=${updatedAt}`, [3]],
      [`updatedAt=gte:${updatedAt}&status=ne:pending&sort=updatedAt:asc`, [3, 2]],
      [`updatedAt=lt:${updatedAt}&status=processing`, []],
      [`id=${ids[0]},${ids[3]},${newId()}`, [4, 1]],
      [`id=in:${ids[0]},${foreign}&status=pending&sort=createdAt:asc`, [1, 0]],
      [`id=eq:${foreign}`, [0]],
    ];
    for (const [query, expected] of cases) {
      expect([query, await numbers(`?accountId=all&${query}`, shop.staff)]).toEqual([query, expected]);
    }
  });

  it("GET /v1/orders filters the caller's own orders by ids and by the time of the last change", async () => {
    const { updatedAt } = (await shop.view(customer, ids[2] ?? '')).body;
    expect(await numbers(`?id=${ids[0]},${foreign}`)).toEqual([1]);
    expect(await numbers(`?updatedAt=gte:${updatedAt}&status=processing`)).toEqual([3]);
  });

  it('GET /v1/orders returns each order of all accounts once over all pages, by state too', async () => {
    for (const query of ['accountId=all&limit=1', 'accountId=all&limit=1&status=ne:delivered&sort=createdAt:asc']) {
      const seen: string[] = [];
      let path: string | undefined = `/v1/orders?${query}`;
      while (path !== undefined) {
        const answer = await shop.orders.get(path, { token: shop.staff.token });
        seen.push(...answer.body.items.map(({ id }) => id));
        path = /<([^>]+)>; rel="next"/.exec(answer.headers.link ?? '')?.[1];
      }
      const oldestFirst = [...ids, foreign];
      expect(seen).toEqual(query.includes('asc') ? oldestFirst : oldestFirst.reverse());
    }
  });

  it.each([
    ['?status=pending', [5, 4, 1]],
    ['?status=cancelled,processing', [3, 2]],
    ['?status=ne:pending', [3, 2]],
    ['?totalCost=gte:20,lt:40', [3, 2]],
    ['?totalCost=30', [3]],
    ['?sort=totalCost:asc', [1, 2, 3, 4, 5]],
    ['?sort=createdAt:asc,id:asc&limit=2', [1, 2]],
    ['?createdAt=lt:2020-01-01T00:00:00Z', []],
    ['?fields=id&limit=1', [5]],
  ])('GET /v1/orders accepts the query %s', async (query, expected) => {
    expect(await numbers(query)).toEqual(expected);
  });

  it('GET /v1/orders returns each order once over all pages, by cursor and by link', async () => {
    const seen: string[] = [];
    let path: string | undefined = '/v1/orders?limit=2&sort=totalCost:desc';
    while (path !== undefined) {
      const answer = await shop.orders.get(path, { token: customer.token });
      seen.push(...answer.body.items.map(({ id }) => id));
      expect(answer.body.pagination.hasMore).toBe(answer.headers.link !== undefined);
      path = /<([^>]+)>; rel="next"/.exec(answer.headers.link ?? '')?.[1];
    }
    expect(seen).toEqual([...ids].reverse());
  });

  it('GET /v1/orders shows an account that never ordered an empty page', async () => {
    expect((await list('', await shop.customer())).body).toEqual({
      items: [],
      pagination: { limit: 20, hasMore: false },
    });
  });
});

describe('400', () => {
  it.each([
    '?limit=0',
    '?limit=101',
    '?limit=x',
    '?page=2',
    '?offset=1',
    '?status=lost',
    '?status=gt:pending',
    '?totalCost=1.999',
    '?totalCost=cheap',
    '?sort=status:asc',
    '?sort=createdAt',
    '?accountId=you',
    '?accountId=me&accountId=me',
    '?accountId=all,me',
    '?id=1',
    '?accountId=ALL',
    '?accountId=1',
    '?id=ne:01931f70-6a10-7b52-9c3e-2f4d8e6a0b01',
    '?updatedAt=yesterday',
    '?sort=updatedAt:asc',
    '?currency=EUR',
    '?fields=password',
    "?status=pending';DROP TABLE orders--",
  ])('GET /v1/orders returns 400 for %s', async (query) => {
    const answer = await list(query);
    expect(answer.status).toBe(400);
    expect(answer.body.errors).not.toHaveLength(0);
  });

  it('GET /v1/orders reports faults of the account, the page and the filters together', async () => {
    const { status, body } = await list('?accountId=you&limit=02&totalCost=cheap&sort=status:asc&page=2');
    expect(status).toBe(400);
    expect(body.errors.map(({ parameter }) => parameter)).toEqual(['accountId', 'limit', 'page', 'totalCost', 'sort']);
  });

  it('GET /v1/orders returns 400 for a cursor of all accounts for one account, and the reverse', async () => {
    const all = (await list('?accountId=all&limit=1', shop.staff)).body.pagination.nextCursor;
    const own = (await list(`?accountId=${customer.accountId}&limit=1`, shop.staff)).body.pagination.nextCursor;
    for (const answer of [
      await list(`?accountId=${customer.accountId}&limit=1&cursor=${all}`, shop.staff),
      await list(`?accountId=all&limit=1&cursor=${own}`, shop.staff),
      await list(`?limit=1&cursor=${all}`),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid-cursor']);
    }
  });

  it("GET /v1/orders returns 400 for another account's cursor, another query's cursor, and an invalid cursor", async () => {
    const { nextCursor } = (await list('?limit=1')).body.pagination;
    for (const answer of [
      await list(`?limit=1&cursor=${nextCursor}`, other),
      await list(`?limit=1&cursor=${nextCursor}&status=pending`),
      await list(`?limit=1&cursor=${nextCursor}&accountId=${customer.accountId}`, shop.staff).then(
        async (staffPage) => {
          // Staff may use the cursor of a page that the customer read.
          expect(staffPage.status).toBe(200);
          return list('?cursor=AAAA');
        },
      ),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.body.code).toBe('invalid-cursor');
    }
  });
});

describe('401', () => {
  it('GET /v1/orders returns 401 for a request without a token', async () => {
    expect((await shop.orders.get('/v1/orders')).status).toBe(401);
  });
});

describe('403', () => {
  it("GET /v1/orders returns 403 for another account's orders, whether or not it exists", async () => {
    for (const accountId of [other.accountId, newId()]) {
      const answer = await list(`?accountId=${accountId}`);
      expect(answer.status).toBe(403);
      expect(answer.body.errors[0]?.parameter).toBe('accountId');
    }
    const packer = await shop.customer('orders:fulfil');
    expect((await list(`?accountId=${customer.accountId}`, packer)).status).toBe(403);
  });

  it('GET /v1/orders returns 403 for the orders of all accounts in the same way, whatever the filters are', async () => {
    const packer = await shop.customer('orders:fulfil');
    const { nextCursor } = (await list('?accountId=all&limit=1', shop.staff)).body.pagination;
    const answers = [
      await list(`?accountId=${newId()}`),
      await list('?accountId=all'),
      await list('?accountId=all&status=pending'),
      await list(`?accountId=all&id=${foreign}`),
      await list(`?accountId=all&id=${newId()}`),
      await list(`?accountId=all&limit=1&cursor=${nextCursor}`),
      await list('?accountId=all&status=lost'),
      await list('?accountId=all', packer),
    ];
    const shown = answers.map(({ status, body: { instance: _, requestId: __, ...body } }) => ({ status, body }));
    for (const answer of shown) expect(answer).toEqual(shown[0]);
    expect(shown[0]).toMatchObject({ status: 403, body: { code: 'forbidden', errors: [{ parameter: 'accountId' }] } });
    expect((await list('?accountId=all&limit=x')).status).toBe(403);
  });
});

describe('422', () => {
  it('GET /v1/orders returns 422 for more than 100 ids, and proposes the first 100 of all accounts', async () => {
    const { status, body } = await list(`?accountId=all&id=${Array.from({ length: 101 }, newId)}`, shop.staff);
    expect([status, body.exceeded]).toEqual([422, [{ bound: 'listValues', maximum: 100, actual: 101 }]]);
    expect(body.nearest).toMatch(/^accountId=all&id=/);
    expect((await list(`?${body.nearest}`, shop.staff)).status).toBe(200);
  });

  it('GET /v1/orders names the exceeded bound and a query that is accepted', async () => {
    const answer = await list(`?totalCost=in:${Array.from({ length: 101 }, (_, n) => n).join(',')}`);
    expect(answer.status).toBe(422);
    expect(answer.body.exceeded).toEqual([{ bound: 'listValues', maximum: 100, actual: 101 }]);
    expect((await list(`?${answer.body.nearest}`)).status).toBe(200);
  });

  it('GET /v1/orders splits a list that is too long into accepted queries, unless other conditions exclude every order', async () => {
    const ids = `accountId=all&id=${Array.from({ length: 101 }, newId)}`;
    const { split } = (await list(`?${ids}`, shop.staff)).body;
    expect(Array.isArray(split) && split.length).toBe(2);
    for (const part of Array.isArray(split) ? split : []) expect((await list(`?${part}`, shop.staff)).status).toBe(200);

    const none = statuses.map((each) => `status=ne:${each}`).join('&');
    const { status, body } = await list(`?${ids}&${none}`, shop.staff);
    expect([status, body.split]).toEqual([422, undefined]);
    expect((await list(`?${body.nearest}`, shop.staff)).status).toBe(200);
  });

  it('GET /v1/orders proposes a query for the orders of the same account', async () => {
    const others = Array.from({ length: 21 }, (_, n) => `totalCost=ne:${n + 100}`).join('&');
    const { status, body } = await list(`?accountId=${customer.accountId}&${others}`, shop.staff);
    expect([status, body.exceeded]).toEqual([422, [{ bound: 'conditions', maximum: 20, actual: 21 }]]);
    expect(await numbers(`?${body.nearest}`, shop.staff)).toEqual([5, 4, 3, 2, 1]);
    expect((await list(`?${others}`)).body.nearest).not.toContain('accountId');
  });
});
