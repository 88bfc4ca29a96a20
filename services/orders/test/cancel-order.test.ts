// POST /v1/orders/{orderId}/cancel, by status.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, lockWaits } from '@shop/shared/testing';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;
let cup: string;

beforeAll(async () => {
  shop = await startShop();
  customer = await shop.customer();
  cup = await shop.product({ stock: 1000 });
});
afterAll(() => shop.stop());

async function placed(product = cup): Promise<string> {
  const { status, body } = await shop.order(customer, { [product]: 2 });
  expect([status, body.code]).toEqual([201, undefined]);
  return body.id;
}

async function events(orderId: string): Promise<{ type: string; sequence: number; data: Record<string, unknown> }[]> {
  const { database } = shop.services.service('orders');
  const text =
    "SELECT type, sequence::int, data FROM outbox WHERE subject = $1 AND type <> 'order.updated.v1' ORDER BY id";
  return (await database.query(text, [orderId])).rows;
}

describe('200', () => {
  it('POST /v1/orders/{orderId}/cancel cancels with the reason, and publishes it once', async () => {
    const id = await placed();
    const answer = await shop.act(customer, id, 'cancel', { body: { cancellation_reason: 'Ordered twice' } });
    expect(answer.status).toBe(200);
    expect(answer.headers.etag).toBe('W/"2"');
    expect(answer.body).toMatchObject({
      id,
      status: 'cancelled',
      allowedActions: [],
      cancellation: {
        reason: 'Ordered twice',
        cancelledAt: answer.body.updatedAt,
        stockReleased: { state: 'pending' },
        customerNotified: { state: 'pending' },
      },
    });
    const [, cancelled] = await events(id);
    expect(cancelled).toMatchObject({
      type: 'order.cancelled.v1',
      sequence: 2,
      data: {
        orderId: id,
        accountId: customer.accountId,
        items: [{ productId: cup, name: 'Cup', quantity: 2 }],
        reason: 'Ordered twice',
        cancelledAt: answer.body.cancellation.cancelledAt,
      },
    });
  });

  it('a cancellation has the same time everywhere, never before the change for which it waited', async () => {
    const id = await placed();
    const { database } = shop.services.service('orders');
    const other = await database.connect();
    try {
      await other.query('BEGIN');
      await other.query('SELECT FROM orders WHERE id = $1 FOR UPDATE', [id]);
      const answer = shop.act(customer, id, 'cancel');
      await eventually(async () => expect(await lockWaits(database)).toBe(1));
      await other.query("UPDATE orders SET updated_at = clock_timestamp() + interval '1 second' WHERE id = $1", [id]);
      await other.query('COMMIT');
      const { body } = await answer;
      expect(body.cancellation.cancelledAt).toBe(body.updatedAt);
    } finally {
      other.release();
    }
  });

  it.each([{}, { body: {} }])('POST /v1/orders/{orderId}/cancel requires no reason: %j', async (options) => {
    const { status, body } = await shop.act(customer, await placed(), 'cancel', options);
    expect(status).toBe(200);
    expect(body.cancellation).not.toHaveProperty('reason');
  });

  it('POST /v1/orders/{orderId}/cancel lets staff with orders:fulfil cancel, and names them in the history, the event and the ledger', async () => {
    const id = await placed();
    const packer = await shop.customer('orders:fulfil');
    expect((await shop.view(shop.staff, id)).body.allowedActions).toEqual(['cancel', 'process']);
    const answer = await shop.act(packer, id, 'cancel', { body: { cancellation_reason: 'Sold out' } });
    expect([answer.status, answer.body.status, answer.body.cancellation.reason]).toEqual([
      200,
      'cancelled',
      'Sold out',
    ]);
    const { body } = await shop.orders.get(`/v1/orders/${id}/history`, { token: customer.token });
    expect(body.items.at(-1)).toMatchObject({ status: 'cancelled', by: 'staff' });
    const { rows } = await shop.services.service('orders').database.query(
      `SELECT data ->> 'cancelledBy' AS by, actor_id FROM outbox JOIN order_history ON subject = order_id::text
         WHERE order_id = $1 AND type = 'order.cancelled.v1' AND status = 'cancelled'`,
      [id],
    );
    expect(rows).toEqual([{ by: 'staff', actor_id: packer.accountId }]);
    const ledger = shop.services.service('catalogue').database;
    await eventually(async () => {
      const found = await ledger.query("SELECT actor FROM stock_ledger WHERE order_id = $1 AND kind = 'released'", [
        id,
      ]);
      expect(found.rows).toEqual([{ actor: 'staff' }]);
    });
  });

  it('POST /v1/orders/{orderId}/cancel names the customer when staff cancels an order of their own', async () => {
    const packer = await shop.customer('orders:fulfil');
    const { body } = await shop.order(packer, { [await shop.product()]: 1 });
    await shop.act(packer, body.id, 'cancel');
    const history = await shop.orders.get(`/v1/orders/${body.id}/history`, { token: packer.token });
    expect(history.body.items.at(-1)).toMatchObject({ status: 'cancelled', by: 'customer' });
  });

  it('POST /v1/orders/{orderId}/cancel cancels an order that is processing', async () => {
    const id = await placed();
    await shop.act(shop.staff, id, 'process');
    expect((await shop.act(customer, id, 'cancel')).body.status).toBe('cancelled');
  });

  it('POST /v1/orders/{orderId}/cancel does not change a cancelled order, and publishes no second event', async () => {
    const id = await placed();
    await shop.act(customer, id, 'cancel', { body: { cancellation_reason: 'First' } });
    await eventually(async () =>
      expect((await shop.view(customer, id)).body.cancellation.stockReleased.state).toBe('done'),
    );
    const before = await shop.view(customer, id);
    const again = await shop.act(customer, id, 'cancel', { body: { cancellation_reason: 'Second' } });
    expect(again.status).toBe(200);
    expect(again.text).toBe(before.text);
    expect(again.headers.etag).toBe(before.headers.etag);
    expect((await events(id)).map(({ type }) => type)).toEqual(['order.created.v1', 'order.cancelled.v1']);
  });

  it('POST /v1/orders/{orderId}/cancel creates one cancellation for any number of concurrent requests', async () => {
    const product = await shop.product();
    const id = await placed(product);
    const answers = await Promise.all(Array.from({ length: 20 }, () => shop.act(customer, id, 'cancel')));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect((await events(id)).filter(({ type }) => type === 'order.cancelled.v1')).toHaveLength(1);
    await eventually(async () => expect(await shop.stockOf(product)).toEqual({ stock: 10, reserved: 0, oversold: 0 }));
  });

  it('a cancellation is stored under the idempotency key and replayed', async () => {
    const id = await placed();
    const headers = { 'Idempotency-Key': newId() };
    const first = await shop.act(customer, id, 'cancel', { headers });
    const again = await shop.act(customer, id, 'cancel', { headers });
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.text).toBe(first.text);
  });

  it.each([
    ['1', 400],
    ['"7"', 412],
  ])(
    'POST /v1/orders/{orderId}/cancel accepts the key of a request that was rejected: If-Match: %s, %i',
    async (tag, status) => {
      const id = await placed();
      const key = { 'Idempotency-Key': newId() };
      expect((await shop.act(customer, id, 'cancel', { headers: { ...key, 'If-Match': tag } })).status).toBe(status);
      const corrected = await shop.act(customer, id, 'cancel', { headers: { ...key, 'If-Match': '"1"' } });
      expect([corrected.status, corrected.body.status]).toEqual([200, 'cancelled']);
      expect(corrected.headers).not.toHaveProperty('idempotency-replayed');
    },
  );

  it('POST /v1/orders/{orderId}/cancel accepts the key of a request for an unknown order', async () => {
    const headers = { 'Idempotency-Key': newId() };
    expect((await shop.act(customer, newId(), 'cancel', { headers })).status).toBe(404);
    expect((await shop.act(customer, await placed(), 'cancel', { headers })).status).toBe(200);
  });

  it.each(['W/"1"', '"1"', '"7", W/"1"', '*'])(
    'POST /v1/orders/{orderId}/cancel accepts the present version as If-Match: %s',
    async (tag) => {
      const headers = { 'If-Match': tag };
      expect((await shop.act(customer, await placed(), 'cancel', { headers })).status).toBe(200);
    },
  );
});

describe('204', () => {
  it.each(['return=minimal', 'respond-async, return=minimal; foo=bar', 'RETURN = "minimal"'])(
    'POST /v1/orders/{orderId}/cancel returns 204 without a body for Prefer: %s',
    async (Prefer) => {
      const id = await placed();
      const answer = await shop.act(customer, id, 'cancel', { headers: { Prefer } });
      expect([answer.status, answer.text]).toEqual([204, '']);
      expect(answer.headers['preference-applied']).toBe('return=minimal');
      expect(answer.headers.etag).toBe('W/"2"');
      expect((await shop.view(customer, id)).body.status).toBe('cancelled');
    },
  );

  it.each(['return=representation', 'return=representation, return=minimal', 'minimal', 'xreturn=minimal'])(
    'a cancellation ignores Prefer: %s',
    async (Prefer) => {
      expect((await shop.act(customer, await placed(), 'cancel', { headers: { Prefer } })).status).toBe(200);
    },
  );
});

describe('400', () => {
  it.each([
    { cancellation_reason: '' },
    { cancellation_reason: 'x'.repeat(501) },
    { cancellation_reason: 1 },
    { cancellation_reason: null },
    { reason: 'x' },
    [],
    'x',
    null,
  ])('POST /v1/orders/{orderId}/cancel returns 400 for %j and changes nothing', async (body) => {
    const id = await placed();
    expect((await shop.act(customer, id, 'cancel', { body })).status).toBe(400);
    expect((await shop.view(customer, id)).body.status).toBe('pending');
  });

  it('POST /v1/orders/{orderId}/cancel counts characters, not code units', async () => {
    const body = { cancellation_reason: '😀'.repeat(500) };
    expect((await shop.act(customer, await placed(), 'cancel', { body })).status).toBe(200);
  });
});

describe('401', () => {
  it('POST /v1/orders/{orderId}/cancel returns 401 for a request without a token', async () => {
    expect((await shop.orders.post(`/v1/orders/${newId()}/cancel`)).status).toBe(401);
  });
});

describe('404', () => {
  it("POST /v1/orders/{orderId}/cancel returns the same bytes for an unknown order and for another account's order", async () => {
    const id = await placed();
    const other = await shop.customer();
    const options = { headers: { 'X-Request-Id': 'the-same' } };
    const foreign = await shop.act(other, id, 'cancel', options);
    expect(foreign.status).toBe(404);
    expect(foreign.text).toBe((await shop.act(other, newId(), 'cancel', options)).text);
    expect((await shop.view(customer, id)).body.status).toBe('pending');
  });

  it('POST /v1/orders/{orderId}/cancel returns 404 to staff that may only read orders', async () => {
    const reader = await shop.customer('orders:read-all');
    expect((await shop.act(reader, await placed(), 'cancel')).status).toBe(404);
  });
});

describe('409', () => {
  it('POST /v1/orders/{orderId}/cancel returns 409 for an order that is already shipped or delivered', async () => {
    const id = await placed();
    await shop.act(shop.staff, id, 'process');
    for (const action of ['ship', 'deliver']) {
      const before = await shop.act(shop.staff, id, action);
      const answer = await shop.act(customer, id, 'cancel');
      expect(answer.status).toBe(409);
      expect(answer.body.code).toBe('order-already-shipped');
      expect((await shop.view(customer, id)).headers.etag).toBe(before.headers.etag);
    }
    expect((await events(id)).map(({ type }) => type)).not.toContain('order.cancelled.v1');
  });

  it('of a cancellation and a shipment of one order, only one succeeds', async () => {
    const orders: string[] = [];
    for (let n = 0; n < 60; n += 1) {
      const id = await placed();
      await shop.act(shop.staff, id, 'process');
      orders.push(id);
    }
    let next = 0;
    // Eight clients run concurrently. Each handles the next order when it has finished one.
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let n = next++; n < orders.length; n = next++) {
          const id = String(orders[n]);
          const race = [() => shop.act(shop.staff, id, 'ship'), () => shop.act(customer, id, 'cancel')];
          const [first, second] = await Promise.all((n % 2 ? race : race.reverse()).map((run) => run()));
          expect([first?.status, second?.status].sort()).toEqual([200, 409]);
          const types = (await events(id)).map(({ type }) => type);
          expect(types).toHaveLength(3);
        }
      }),
    );
    await eventually(async () => {
      const { database } = shop.services.service('catalogue');
      const { rows } = await database.query(
        `SELECT count(*)::int AS open FROM reservations WHERE state = 'confirmed' AND order_id = ANY ($1::uuid[])`,
        [orders],
      );
      expect(rows).toEqual([{ open: 0 }]);
    });
  });
});

describe('409 again', () => {
  it('POST /v1/orders/{orderId}/cancel repeats the error response for the same idempotency key', async () => {
    const id = await placed();
    for (const action of ['process', 'ship']) await shop.act(shop.staff, id, action);
    const headers = { 'Idempotency-Key': newId() };
    const first = await shop.act(customer, id, 'cancel', { headers });
    const again = await shop.act(customer, id, 'cancel', { headers });
    expect([again.status, again.body]).toEqual([409, { ...first.body, instance: again.headers['x-request-id'] }]);
    expect(again.headers['idempotency-replayed']).toBe('true');
  });
});

describe('400', () => {
  it('POST /v1/orders/{orderId}/cancel names the member that a misspelt name means', async () => {
    const answer = await shop.act(customer, await placed(), 'cancel', { body: { reason: 'Too late' } });
    expect(answer.body.detail).toBe('/reason is not a known member; did you mean cancellation_reason?');
  });
});

describe('412', () => {
  it('POST /v1/orders/{orderId}/cancel returns 412 for a stale version and changes nothing', async () => {
    const id = await placed();
    await shop.act(shop.staff, id, 'process');
    const answer = await shop.act(customer, id, 'cancel', { headers: { 'If-Match': '"1"' } });
    expect(answer.status).toBe(412);
    expect((await shop.act(customer, id, 'cancel', { headers: { 'If-None-Match': '*' } })).status).toBe(412);
    expect((await shop.view(customer, id)).body.status).toBe('processing');
  });
});

describe('after a cancellation', () => {
  it('a cancellation releases the stock and shows this in the order with a new version', async () => {
    const product = await shop.product();
    const id = await placed(product);
    expect(await shop.stockOf(product)).toMatchObject({ reserved: 2 });
    await shop.act(customer, id, 'cancel');
    const answer = await eventually(async () => {
      const seen = await shop.view(customer, id);
      expect(seen.body.cancellation.stockReleased).toEqual({ state: 'done', at: expect.any(String) });
      return seen;
    });
    expect(answer.headers.etag).toBe('W/"3"');
    expect(answer.body.cancellation.customerNotified).toEqual({ state: 'pending' });
    expect(await shop.stockOf(product)).toEqual({ stock: 10, reserved: 0, oversold: 0 });
  });
});
