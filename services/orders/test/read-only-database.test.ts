// A database that answers reads and refuses writes, as a former primary does after a failover, or does not answer a statement in time.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Transport } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import { connectTestTransport, eventually, setReadOnly } from '@shop/shared/testing';
import pg from 'pg';
import { type Customer, type NewProduct, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let transport: Transport;
let customer: Customer;

beforeAll(async () => {
  shop = await startShop({ shared: false });
  transport = await connectTestTransport(shop.services.database.urls.events);
  customer = await shop.customer();
});
afterAll(async () => {
  await transport.close();
  await shop.stop();
});

const setOrdersReadOnly = (readOnly: boolean): Promise<void> =>
  setReadOnly(shop.services.database.adminUrl, ['orders'], readOnly);

async function order(product: NewProduct = {}): Promise<string> {
  const answer = await shop.order(customer, { [await shop.product(product)]: 1 });
  expect(answer.status).toBe(201);
  return String(answer.body.id);
}

const readiness = async () => {
  const answer = await fetch(`${shop.services.service('orders').url}/health/ready`);
  const { checks } = (await answer.json()) as { checks: Record<string, string> };
  return { status: answer.status, checks };
};

/** Delivers the event that the catalogue sends for a cancelled order, whatever state the database of orders is in. */
async function publishReleased(orderId: string): Promise<string> {
  const id = newId();
  const type = 'stock.released.v1';
  const data = {
    orderId,
    accountId: customer.accountId,
    reservationId: newId(),
    outcome: 'done',
    releasedAt: new Date().toISOString(),
  };
  const envelope = { specversion: '1.0', id, source: '/tests', type, subject: orderId, time: data.releasedAt };
  const content = JSON.stringify({ ...envelope, sequence: '0000000002', requestid: 'test', data });
  await transport.publish([{ id, type, content }]);
  return id;
}

describe('a read-only database', () => {
  it('a read-only database causes 503 and an unready service, and waiting events use up no attempts', async () => {
    const orderId = await order();
    await setOrdersReadOnly(true);

    const refused = await shop.act(customer, orderId, 'cancel', { headers: { 'Idempotency-Key': 'read-only' } });
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.body).toMatchObject({ code: 'service-unavailable' });
    await eventually(async () =>
      expect(await readiness()).toMatchObject({ status: 503, checks: { database: 'failing' } }),
    );
    expect((await shop.view(customer, orderId)).status).toBe(200);

    const eventId = await publishReleased(orderId);
    const output = () => shop.services.service('orders').output();
    await eventually(() => expect(output().split('an event waits for the database').length).toBeGreaterThan(2));
    expect((await transport.depth('orders.effects')).dead).toBe(0);

    await setOrdersReadOnly(false);
    await eventually(async () => expect(await readiness()).toMatchObject({ status: 200 }));
    const cancelled = await shop.act(customer, orderId, 'cancel', { headers: { 'Idempotency-Key': 'read-only' } });
    expect(cancelled.status).toBe(200);
    await eventually(async () => {
      const { database } = shop.services.service('orders');
      const { rows } = await database.query('SELECT attempt FROM inbox WHERE event_id = $1', [eventId]);
      expect(rows).toEqual([{ attempt: 1 }]);
    });
    await eventually(async () =>
      expect((await shop.view(customer, orderId)).body.cancellation).toMatchObject({
        stockReleased: { state: 'done' },
      }),
    );
  });

  it('a read-only database confirms nothing that is stored, because a previous primary may show a commit that is lost', async () => {
    const productId = await shop.product({ stock: 5 });
    const headers = { 'Idempotency-Key': 'place and confirm' };
    const place = () => shop.order(customer, { [productId]: 1 }, { headers });
    const placed = await place();
    expect(placed.status).toBe(201);
    const cancel = () =>
      shop.act(customer, String(placed.body.id), 'cancel', { headers: { 'Idempotency-Key': 'cancel and confirm' } });
    const cancelled = await cancel();
    expect(cancelled.status).toBe(200);
    await setOrdersReadOnly(true);

    for (const repeat of [place, cancel]) expect(await repeat()).toMatchObject({ status: 503 });

    await setOrdersReadOnly(false);
    await eventually(async () => expect(await readiness()).toMatchObject({ status: 200 }));
    for (const [repeat, { status, body }] of [[place, placed] as const, [cancel, cancelled] as const]) {
      const replayed = await repeat();
      expect(replayed).toMatchObject({ status, body });
      expect(replayed.headers['idempotency-replayed']).toBe('true');
    }
  });

  it('a read-only database delays the start of a service, which continues by itself', async () => {
    await setOrdersReadOnly(true);
    const orders = shop.services.service('orders');
    const restarted = orders.restart();
    await eventually(() => expect(orders.output()).toContain('the database cannot be used: the database is read-only'));
    await setOrdersReadOnly(false);
    await restarted;
    expect(await readiness()).toMatchObject({ status: 200 });
  });
});

it.each(['orders', 'catalogue'] as const)('a timeout while %s compares the currency delays its start', async (name) => {
  const service = shop.services.service(name);
  const holder = new pg.Client({ connectionString: shop.services.database.urls[name] });
  await holder.connect();
  try {
    await holder.query('BEGIN; LOCK TABLE shop_currency IN ACCESS EXCLUSIVE MODE');
    const started = service.restart();
    await eventually(() => expect(service.output()).toContain('the start waits for the database'), 30_000);
    await holder.query('COMMIT');
    await started;
  } finally {
    await holder.end();
  }
});
