// POST /v1/orders/{orderId}/process, /ship and /deliver, by status.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;

beforeAll(async () => {
  shop = await startShop();
  customer = await shop.customer();
});
afterAll(() => shop.stop());

/** Returns an order after these actions. */
async function order(...done: string[]): Promise<string> {
  const { body } = await shop.order(customer, { [await shop.product()]: 1 });
  for (const action of done) await shop.act(action === 'cancel' ? customer : shop.staff, body.id, action);
  return body.id;
}

describe('200', () => {
  it('a transition of an order moves an order from pending to delivered, with a version and an event for each step', async () => {
    const product = await shop.product();
    const { body } = await shop.order(customer, { [product]: 3 });
    const steps = [
      ['process', 'processing'],
      ['ship', 'shipped'],
      ['deliver', 'delivered'],
    ] as const;
    for (const [index, [action, status]] of steps.entries()) {
      const answer = await shop.act(shop.staff, body.id, action);
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ id: body.id, status, accountId: customer.accountId });
      expect(answer.headers.etag).toBe(`W/"${index + 2}"`);
    }
    const { rows } = await shop.services
      .service('orders')
      .database.query('SELECT type, sequence::int FROM outbox WHERE subject = $1 ORDER BY sequence', [body.id]);
    expect(rows).toEqual([
      { type: 'order.created.v1', sequence: 1 },
      { type: 'order.processing.v1', sequence: 2 },
      { type: 'order.shipped.v1', sequence: 3 },
      { type: 'order.delivered.v1', sequence: 4 },
    ]);
    await eventually(async () => expect(await shop.stockOf(product)).toEqual({ stock: 7, reserved: 0, oversold: 0 }));
  });

  it('a transition is stored under the idempotency key and replayed', async () => {
    const id = await order();
    const headers = { 'Idempotency-Key': newId() };
    const first = await shop.act(shop.staff, id, 'process', { headers });
    const again = await shop.act(shop.staff, id, 'process', { headers });
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(again.headers['idempotency-replayed']).toBe('true');
  });

  it('a transition of an order requires only the scope orders:fulfil', async () => {
    const packer = await shop.customer('orders:fulfil');
    expect((await shop.act(packer, await order(), 'process')).body.allowedActions).toEqual(['cancel', 'ship']);
  });
});

describe('403', () => {
  it.each(['process', 'ship', 'deliver'])(
    'a transition of an order returns 403 for a token without the scope: %s',
    async (action) => {
      const id = await order();
      expect((await shop.act(customer, id, action)).status).toBe(403);
      expect((await shop.act(await shop.customer('orders:read-all'), id, action)).status).toBe(403);
      expect((await shop.act(customer, newId(), action)).status).toBe(403);
    },
  );
});

describe('401', () => {
  it.each(['process', 'ship', 'deliver'])(
    'a transition of an order returns 401 for a request without a token: %s',
    async (action) => {
      expect((await shop.orders.post(`/v1/orders/${newId()}/${action}`)).status).toBe(401);
    },
  );
});

describe('404', () => {
  it.each(['process', 'ship', 'deliver'])(
    'a transition of an order returns 404 for an unknown order: %s',
    async (action) => {
      expect((await shop.act(shop.staff, newId(), action)).status).toBe(404);
      expect((await shop.act(shop.staff, '7', action)).status).toBe(404);
    },
  );
});

describe('409', () => {
  it.each([
    [[], 'ship'],
    [[], 'deliver'],
    [['process'], 'process'],
    [['process'], 'deliver'],
    [['process', 'ship'], 'process'],
    [['process', 'ship'], 'ship'],
    [['process', 'ship', 'deliver'], 'deliver'],
    [['process', 'ship', 'deliver'], 'process'],
    [['cancel'], 'process'],
    [['process', 'cancel'], 'ship'],
  ])(
    'a transition of an order returns 409 for a transition that is not in the table: after %j, %s',
    async (done, action) => {
      const id = await order(...done);
      const before = await shop.orders.get(`/v1/orders/${id}/history`, { token: customer.token });
      const answer = await shop.act(shop.staff, id, action);
      expect(answer.status).toBe(409);
      expect(answer.body.code).toBe('invalid-transition');
      expect((await shop.orders.get(`/v1/orders/${id}/history`, { token: customer.token })).text).toBe(before.text);
    },
  );

  it('concurrent requests make a transition once', async () => {
    const id = await order();
    const answers = await Promise.all(Array.from({ length: 20 }, () => shop.act(shop.staff, id, 'process')));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
  });
});

describe('an order whose units are not on hand', () => {
  /** Places an order of three cups that are sold before they arrive. One cup is on hand. */
  async function ahead(): Promise<{ id: string; cup: string }> {
    const cup = await shop.product({ stock: 1, status: 'backorder' });
    const { body } = await shop.order(customer, { [cup]: 3 });
    await shop.act(shop.staff, body.id, 'process');
    return { id: body.id, cup };
  }
  const arrive = (cup: string, adjust: number) =>
    shop.catalogue.patch(`/v1/products/${cup}`, { token: shop.staff.token, body: { stock: { adjust } } });
  const allocated = async (cup: string): Promise<number> => {
    const { database } = shop.services.service('catalogue');
    return (await database.query('SELECT allocated FROM products WHERE id = $1', [cup])).rows[0].allocated;
  };

  it('an order whose units are not on hand is not shipped: the error response names the product with both figures, and the order stays as it was', async () => {
    const { id, cup } = await ahead();
    const answer = await shop.act(shop.staff, id, 'ship');
    expect([answer.status, answer.body.code]).toEqual([409, 'stock-missing']);
    expect(answer.body.errors).toEqual([
      {
        parameter: 'orderId',
        detail: '3 of "Cup" are to be shipped, 1 can be',
        productId: cup,
        requested: 3,
        onHand: 1,
      },
    ]);
    const seen = await shop.view(customer, id);
    expect([seen.body.status, seen.headers.etag]).toEqual(['processing', 'W/"2"']);
    expect(await shop.stockOf(cup)).toEqual({ stock: 1, reserved: 1, oversold: 2 });
  });

  it('an order whose units are not on hand is shipped once they have arrived, and nothing is entered as received by itself', async () => {
    const { id, cup } = await ahead();
    expect((await shop.act(shop.staff, id, 'ship')).status).toBe(409);
    await arrive(cup, 4);
    expect((await shop.act(shop.staff, id, 'ship')).status).toBe(200);
    await eventually(async () => expect(await shop.stockOf(cup)).toEqual({ stock: 2, reserved: 0, oversold: 0 }));
    expect(await allocated(cup)).toBe(0);
  });

  it('an order whose units are not on hand has its error response stored under the idempotency key', async () => {
    const { id, cup } = await ahead();
    const headers = { 'Idempotency-Key': newId() };
    await shop.act(shop.staff, id, 'ship', { headers });
    await arrive(cup, 4);
    const again = await shop.act(shop.staff, id, 'ship', { headers });
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([409, 'true']);
    expect(await allocated(cup)).toBe(0);
  });

  it('an order whose units are not on hand gives assigned units back when the customer cancels before it is shipped', async () => {
    const { id, cup } = await ahead();
    await arrive(cup, 4);
    const { database } = shop.services.service('catalogue');
    const { rows } = await database.query(
      'SELECT id FROM reservations JOIN reservation_lines ON reservation_id = id WHERE product_id = $1',
      [cup],
    );
    // Simulates that the process of orders died between the two steps of the shipment.
    expect((await shop.internal('catalogue', `/internal/reservations/${rows[0].id}/allocate`)).status).toBe(204);
    expect(await allocated(cup)).toBe(3);
    expect((await shop.act(customer, id, 'cancel')).status).toBe(200);
    await eventually(async () => expect(await allocated(cup)).toBe(0));
    expect(await shop.stockOf(cup)).toEqual({ stock: 5, reserved: 0, oversold: 0 });
    expect((await shop.act(shop.staff, id, 'ship')).body.code).toBe('invalid-transition');
  });

  it('an order whose units are not on hand is rejected for another reason first, and no units are assigned then', async () => {
    const { id, cup } = await ahead();
    await arrive(cup, 4);
    const stale = await shop.act(shop.staff, id, 'ship', { headers: { 'If-Match': 'W/"1"' } });
    expect(stale.status).toBe(412);
    const pending = (await shop.order(customer, { [cup]: 1 })).body.id;
    expect((await shop.act(shop.staff, pending, 'ship')).body.code).toBe('invalid-transition');
    expect(await allocated(cup)).toBe(0);
  });

  it('an order whose units are not on hand lets one of many concurrent shipments take the units that are on hand', async () => {
    const cup = await shop.product({ stock: 4, status: 'backorder' });
    const ids = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const { body } = await shop.order(customer, { [cup]: 2 });
        await shop.act(shop.staff, body.id, 'process');
        return String(body.id);
      }),
    );
    const answers = await Promise.all(
      ids.flatMap((id) => [shop.act(shop.staff, id, 'ship'), shop.act(shop.staff, id, 'ship')]),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(10);
    await eventually(async () => expect(await shop.stockOf(cup)).toEqual({ stock: 0, reserved: 0, oversold: 8 }));
  });
});

describe('412', () => {
  it('a transition of an order returns 412 for If-None-Match: * and changes nothing', async () => {
    const id = await order('process');
    const answer = await shop.act(shop.staff, id, 'ship', { headers: { 'If-None-Match': '*' } });
    expect(answer.status).toBe(412);
    expect((await shop.view(customer, id)).body.status).toBe('processing');
  });

  it.each(['"1"', 'W/"1"', 'W/"22"'])(
    'a transition of an order returns 412 for another version, as If-Match: %s',
    async (tag) => {
      const id = await order('process');
      const answer = await shop.act(shop.staff, id, 'ship', { headers: { 'If-Match': tag } });
      expect(answer.status).toBe(412);
      expect((await shop.view(customer, id)).body.status).toBe('processing');
    },
  );
});
