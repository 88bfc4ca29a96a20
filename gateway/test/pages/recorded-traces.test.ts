// The calls from the board to the services, against the recordings in ../contracts. The services do not run.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { type RecordedService, startRecordedService } from '@shop/shared/testing';
import { startGateway, type TestGateway } from '../start-gateway.ts';

const [account, reservation] = [newId(), newId()];
const times = {
  orderedAt: '2026-01-01T00:00:02.000Z',
  reservedAt: '2026-01-01T00:00:01.000Z',
  takenAt: '2026-01-01T00:00:03.000Z',
};
let services: Record<'orders' | 'catalogue' | 'notifications', RecordedService>;
let gateway: TestGateway;
let token: string;

beforeAll(async () => {
  const texts = { account, reservation, ...times };
  const [orders, catalogue, notifications] = await Promise.all([
    startRecordedService('gateway', 'orders', texts),
    startRecordedService('gateway', 'catalogue', texts),
    startRecordedService('gateway', 'notifications', texts),
  ]);
  services = { orders, catalogue, notifications };
  gateway = await startGateway({
    GATEWAY_CONFIG_DIR: fileURLToPath(new URL('../../config', import.meta.url)),
    ORDERS_URL: orders.url,
    CATALOGUE_URL: catalogue.url,
    NOTIFICATIONS_URL: notifications.url,
  });
  token = await gateway.issuer.sign({ scopes: ['orders:read-all'] });
});
afterAll(async () => {
  await gateway?.stop();
  await Promise.all(Object.values(services ?? {}).map((service) => service.close()));
});

it('the board shows the steps of all services, by time', async () => {
  services.orders.given('two lamps and a chair are ordered');
  services.catalogue.given('two lamps and a chair are reserved');
  services.notifications.given('the e-mail about a cancelled order is sent');
  const orderId = newId();
  const { status, body } = await gateway.client.get(`/board/orders/${orderId}`, { token });
  expect([status, body]).toEqual([
    200,
    {
      orderId,
      accountId: account,
      status: 'pending',
      steps: [
        { service: 'catalogue', kind: 'reservation', at: times.reservedAt, what: 'reservation held' },
        { service: 'orders', kind: 'transition', at: times.orderedAt, what: `pending by customer ${account}` },
        {
          service: 'notifications',
          kind: 'delivery',
          at: times.takenAt,
          what: 'order.cancelled.v1 taken by notifications.mail',
        },
      ],
      missing: [],
    },
  ]);
});

it('the board returns 404 for an order that does not exist', async () => {
  services.orders.given('the order does not exist');
  expect((await gateway.client.get(`/board/orders/${newId()}`, { token })).status).toBe(404);
});

it('the gateway agrees with the recordings in every call, and sends every recorded call', () => {
  expect(Object.values(services).flatMap((service) => service.deviations())).toEqual([]);
});
