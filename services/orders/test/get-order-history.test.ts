// GET /v1/orders/{orderId}/history, by status.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { startShop, type TestShop } from './shop.ts';

let shop: TestShop;

beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.stop());

describe('200', () => {
  it('GET /v1/orders/{orderId}/history lists every transition, who made it, and when', async () => {
    const customer = await shop.customer();
    const { body: order } = await shop.order(customer, { [await shop.product()]: 1 });
    await shop.act(shop.staff, order.id, 'process');
    const { body: cancelled } = await shop.act(customer, order.id, 'cancel');
    for (const who of [customer, shop.staff]) {
      const answer = await shop.orders.get(`/v1/orders/${order.id}/history`, { token: who.token });
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        items: [
          { status: 'pending', at: order.createdAt, by: 'customer' },
          { status: 'processing', at: expect.any(String), by: 'staff' },
          { status: 'cancelled', at: cancelled.cancellation.cancelledAt, by: 'customer' },
        ],
      });
    }
  });
});

describe('200, for a cancelled order', () => {
  it('GET /v1/orders/{orderId}/history gives the reason of the cancellation, if there was one', async () => {
    const customer = await shop.customer();
    const body = { cancellation_reason: 'Ordered twice' };
    for (const { options, expected } of [
      { options: { body }, expected: { reason: 'Ordered twice' } },
      { options: {}, expected: {} },
    ]) {
      const { body: order } = await shop.order(customer, { [await shop.product()]: 1 });
      const { body: cancelled } = await shop.act(shop.staff, order.id, 'cancel', options);
      const answer = await shop.orders.get(`/v1/orders/${order.id}/history`, { token: customer.token });
      expect(answer.body.items).toEqual([
        { status: 'pending', at: order.createdAt, by: 'customer' },
        { status: 'cancelled', at: cancelled.cancellation.cancelledAt, by: 'staff', ...expected },
      ]);
    }
  });
});

describe('401', () => {
  it('GET /v1/orders/{orderId}/history returns 401 for a request without a token', async () => {
    expect((await shop.orders.get(`/v1/orders/${newId()}/history`)).status).toBe(401);
  });
});

// get-order.test.ts tests the 404 for another account's order.
