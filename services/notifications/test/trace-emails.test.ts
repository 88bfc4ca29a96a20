// GET /internal/orders/{orderId}/trace of notifications, by status.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, startServices, type TestServices } from '@shop/shared/testing';
import { joinEvents, type ShopEvents, someOrder } from './shop-events.ts';

let services: TestServices;
let events: ShopEvents;
let token: string;

beforeAll(async () => {
  services = await startServices(['notifications']);
  events = await joinEvents(services.database.urls.events);
  token = await services.issuer.sign({ scopes: ['orders:read-all'] });
});
afterAll(async () => {
  await events?.close();
  await services?.stop();
});

const trace = (orderId: string, options = { token }) =>
  services.service('notifications').client.get(`/internal/orders/${orderId}/trace`, options);

it('GET /internal/orders/{orderId}/trace returns the e-mails about an order, and the events that led to them', async () => {
  const { account, orderId, created } = someOrder();
  await events.send('account.registered.v1', { ...account, emailVerified: true });
  await events.send('order.created.v1', created);
  await eventually(async () => {
    const { status, body } = await trace(orderId);
    expect(status).toBe(200);
    // The e-mail and its event are written by two statements, so their times can differ.
    expect(body.steps).toHaveLength(3);
    expect(body.steps[0]).toMatchObject({ kind: 'delivery', what: 'order.created.v1 taken by notifications.mail' });
    expect(body.steps).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'e-mail', what: 'order-received sent', requestId: 'request-of-test' }),
        expect.objectContaining({ kind: 'event', what: expect.stringMatching(/^notification\.sent\.v1 published/) }),
      ]),
    );
  }, 20_000);
});

it('GET /internal/orders/{orderId}/trace returns an empty list for an unknown order', async () => {
  expect(await trace(newId())).toMatchObject({ status: 200, body: { steps: [] } });
});

describe('a caller who may not see it', () => {
  it('GET /internal/orders/{orderId}/trace without a token returns 401', async () => {
    const { status } = await services.service('notifications').client.get(`/internal/orders/${newId()}/trace`);
    expect(status).toBe(401);
  });

  it('GET /internal/orders/{orderId}/trace without the scope orders:read-all returns 403', async () => {
    const customer = await services.issuer.sign({ scopes: ['orders:fulfil'] });
    expect((await trace(newId(), { token: customer })).status).toBe(403);
  });
});

it('GET /internal/orders/{orderId}/trace returns 404 for an id that is not a UUID', async () => {
  expect((await trace('nonsense')).status).toBe(404);
});
