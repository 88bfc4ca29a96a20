// POST /internal/accounts/{accountId}/export
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { addDeliveredOrders } from './delivered-orders.ts';
import { returningShop } from './returned-orders.ts';
import { startShop, type TestShop } from './shop.ts';

let shop: TestShop;

beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.stop());

const pathOf = (accountId: string): string => `/internal/accounts/${accountId}/export`;
const page = (accountId: string, body: unknown = {}) => shop.internal('orders', pathOf(accountId), body);

describe('200', () => {
  it('POST /internal/accounts/{accountId}/export returns the orders as their owner sees them, without what depends on the caller', async () => {
    const customer = await shop.customer();
    const placed = (await shop.order(customer, { [await shop.product()]: 2 })).body;
    const { status, body } = await page(customer.accountId);
    const { allowedActions: _, ...members } = placed;
    const history = [{ status: 'pending', at: placed.createdAt, by: 'customer' }];
    expect([status, body]).toEqual([200, { items: [{ ...members, history }] }]);
  });

  it('the export of an order has its returns, with what the customer and the shop wrote', async () => {
    const customer = await shop.customer();
    const returns = returningShop(shop, customer);
    const cup = await shop.product();
    const orderId = await returns.ordered({ [cup]: 2 });
    const comment = { comment: 'It broke.' };
    const refused = (await returns.request(customer, orderId, { [cup]: 1 }, comment)).body.id;
    await returns.act(shop.staff, refused, 'refuse', { reason: 'Worn' });
    const received = await returns.requested(orderId, { [cup]: 1 });
    await returns.receive(received, { [cup]: 1 });
    await eventually(async () =>
      expect((await returns.view(customer, received)).body).toMatchObject({ stockReturned: { state: 'done' } }),
    );
    const shown = [(await returns.view(customer, refused)).body, (await returns.view(customer, received)).body];
    const { items } = (await page(customer.accountId)).body;
    expect(items).toMatchObject([{ returns: shown.map(({ allowedActions: _, ...members }) => members) }]);
    expect(shown[0]).toMatchObject({ ...comment, refusalReason: 'Worn' });
  });

  it('POST /internal/accounts/{accountId}/export continues after the last order of a page, also among orders of one moment', async () => {
    const { accountId } = await shop.customer();
    const { database } = shop.services.service('orders');
    const ids = await addDeliveredOrders(database, { accountId, count: 450, apart: 0 });
    const found: string[] = [];
    let after: unknown;
    do {
      const { items, next } = (await page(accountId, after === undefined ? {} : { after })).body;
      found.push(...items.map(({ id }) => id));
      after = next;
    } while (after !== undefined);
    expect(found).toEqual(ids.sort());
  });

  it('the export of an account without orders is an empty page, even after another account has ordered', async () => {
    const customer = await shop.customer();
    const { id } = (await shop.order(customer, { [await shop.product()]: 1 })).body;
    expect((await page(newId())).body).toEqual({ items: [] });
    expect((await page(newId(), { after: id })).body).toEqual({ items: [] });
  });
});

describe('400', () => {
  it.each([{ after: '1' }, { limit: 1 }, []])(
    'POST /internal/accounts/{accountId}/export returns 400 to the body %j',
    async (body) => {
      expect((await page(newId(), body)).status).toBe(400);
    },
  );
});

describe('401', () => {
  it('POST /internal/accounts/{accountId}/export returns 401 without a service token, also to staff and to the customer', async () => {
    const customer = await shop.customer();
    for (const token of [undefined, shop.staff.token, customer.token]) {
      const credentials = token === undefined ? {} : { token };
      const answer = await shop.orders.post(pathOf(customer.accountId), { body: {}, ...credentials });
      expect(answer.status).toBe(401);
    }
  });
});

describe('404', () => {
  it('POST /internal/accounts/{accountId}/export returns 404 for an account that is not a UUID', async () => {
    expect((await page('me')).status).toBe(404);
  });
});
