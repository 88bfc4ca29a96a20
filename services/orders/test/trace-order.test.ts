// GET /internal/orders/{orderId}/trace, and the catalogue's part of it, by status.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { type AnswerBody, eventually } from '@shop/shared/testing';
import { startShop, type TestShop } from './shop.ts';

let shop: TestShop;

beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.stop());

const stepsOf = ({ steps }: AnswerBody): string => steps.map(({ what }) => what).join('\n');

describe('200', () => {
  it('GET /internal/orders/{orderId}/trace lists the steps of an order and its stock, by time', async () => {
    const customer = await shop.customer();
    const { body: order } = await shop.order(customer, { [await shop.product({ name: 'Cup' })]: 2 });
    await shop.act(customer, order.id, 'cancel');
    const { token } = shop.staff;
    await eventually(async () => {
      const { status, body } = await shop.orders.get(`/internal/orders/${order.id}/trace`, { token });
      expect([status, body.orderId, body.status]).toEqual([200, order.id, 'cancelled']);
      expect(stepsOf(body)).toMatch(/^pending by customer [0-9a-f-]{36}$/m);
      expect(stepsOf(body)).toMatch(/^cancelled by customer [0-9a-f-]{36}$/m);
      expect(stepsOf(body)).toMatch(/^order\.cancelled\.v1 published after \d+ ms$/m);
      expect(stepsOf(body)).toMatch(/^stock\.released\.v1 taken by orders\.effects$/m);
      expect(body.steps[0]).toMatchObject({ at: order.createdAt, requestId: expect.any(String) });

      const stock = await shop.catalogue.get(`/internal/reservations/${body.reservationId}/trace`, { token });
      expect(stock.status).toBe(200);
      expect(stepsOf(stock.body)).toMatch(/^reserved 2 of Cup: 10 on hand, 2 promised$/m);
      expect(stepsOf(stock.body)).toMatch(/^released 2 of Cup: 10 on hand, 0 promised$/m);
      expect(stepsOf(stock.body)).toMatch(/^reservation released$/m);
      expect(stepsOf(stock.body)).toMatch(/^order\.cancelled\.v1 taken by catalogue\.inventory$/m);
    }, 20_000);
  });
});

describe.each(['orders', 'reservations'] as const)('of %s', (kind) => {
  const client = () => (kind === 'orders' ? shop.orders : shop.catalogue);

  it('GET /internal/orders/{orderId}/trace without a token returns 401', async () => {
    expect((await client().get(`/internal/${kind}/${newId()}/trace`)).status).toBe(401);
  });

  it('GET /internal/orders/{orderId}/trace without the scope orders:read-all returns 403', async () => {
    const { token } = await shop.customer('orders:fulfil');
    expect((await client().get(`/internal/${kind}/${newId()}/trace`, { token })).status).toBe(403);
  });

  it('GET /internal/orders/{orderId}/trace returns 404 for an unknown id', async () => {
    const { token } = shop.staff;
    expect((await client().get(`/internal/${kind}/${newId()}/trace`, { token })).status).toBe(404);
  });
});
