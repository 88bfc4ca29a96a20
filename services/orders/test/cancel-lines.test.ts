// POST /v1/orders/{orderId}/cancel with `lines`, by status. cancel-order.test.ts tests the cancellation of whole
// orders.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { type CallOptions, eventually, type TestAnswer } from '@shop/shared/testing';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;
let cup: string;
let pan: string;

beforeAll(async () => {
  shop = await startShop();
  customer = await shop.customer();
  cup = await shop.product({ stock: 1000, price: 2.5 });
  pan = await shop.product({ stock: 1000, price: 20, name: 'Pan' });
});
afterAll(() => shop.stop());

async function placed(items: Readonly<Record<string, number>> = { [cup]: 5, [pan]: 2 }): Promise<string> {
  return (await shop.order(customer, items)).body.id;
}

type Lines = readonly (readonly [productId: string, quantity: number])[];

function cancel(id: string, lines: Lines, more: CallOptions = {}, who = customer): Promise<TestAnswer> {
  const body = { lines: lines.map(([productId, quantity]) => ({ productId, quantity })) };
  return shop.act(who, id, 'cancel', { body, ...more });
}

const history = (id: string) => shop.orders.get(`/v1/orders/${id}/history`, { token: customer.token });

async function events(id: string): Promise<{ type: string; sequence: number; data: Record<string, unknown> }[]> {
  const { database } = shop.services.service('orders');
  const text =
    "SELECT type, sequence::int, data FROM outbox WHERE subject = $1 AND type <> 'order.updated.v1' ORDER BY id";
  return (await database.query(text, [id])).rows;
}

describe('200', () => {
  it('a cancellation of units cancels the units, and the order goes on with the rest', async () => {
    const id = await placed();
    const body = { cancellation_reason: 'One pan is enough', lines: [{ productId: pan, quantity: 1 }] };
    const answer = await shop.act(customer, id, 'cancel', { body });
    expect([answer.status, answer.headers.etag]).toEqual([200, 'W/"2"']);
    expect(answer.body).toMatchObject({
      status: 'pending',
      itemsSummary: [
        { productId: cup, quantity: 5, unitPrice: 2.5, lineTotal: 12.5 },
        { productId: pan, quantity: 1, cancelledQuantity: 1, unitPrice: 20, lineTotal: 20 },
      ],
      totalCost: 32.5,
      allowedActions: ['cancel'],
    });
    expect(answer.body).not.toHaveProperty('cancellation');
    expect(answer.body).not.toHaveProperty('itemsSummary.0.cancelledQuantity');
    expect((await shop.view(customer, id)).text).toBe(answer.text);
    expect((await events(id))[1]).toMatchObject({
      type: 'order.lines-cancelled.v1',
      sequence: 2,
      data: {
        orderId: id,
        accountId: customer.accountId,
        orderVersion: 2,
        items: [{ productId: pan, name: 'Pan', quantity: 1 }],
        remaining: [
          { productId: cup, name: 'Cup', quantity: 5, unitPrice: 2.5, lineTotal: 12.5 },
          { productId: pan, name: 'Pan', quantity: 1, unitPrice: 20, lineTotal: 20 },
        ],
        totalCost: 32.5,
        currency: 'EUR',
        reason: 'One pan is enough',
        cancelledBy: 'customer',
        cancelledAt: answer.body.updatedAt,
      },
    });
  });

  it('a cancellation of units releases the stock of these units, and the history shows it', async () => {
    const product = await shop.product({ stock: 10 });
    const id = await placed({ [product]: 4 });
    const answer = await cancel(id, [[product, 3]]);
    const before = await history(id);
    expect(before.body.items).toEqual([
      { status: 'pending', at: expect.any(String), by: 'customer' },
      {
        status: 'pending',
        at: answer.body.updatedAt,
        by: 'customer',
        cancelledLines: [{ productId: product, name: 'Cup', quantity: 3 }],
        stockReleased: { state: 'pending' },
        customerNotified: { state: 'pending' },
      },
    ]);
    const after = await eventually(async () => {
      const seen = await history(id);
      expect(seen.body.items[1]?.stockReleased).toEqual({ state: 'done', at: expect.any(String) });
      return seen;
    });
    expect(after.headers.etag).not.toBe(before.headers.etag);
    expect((await shop.view(customer, id)).headers.etag).toBe(answer.headers.etag);
    expect(await shop.stockOf(product)).toEqual({ stock: 10, reserved: 1, oversold: 0 });
  });

  it('a cancellation of units shows a line without units when all units of it are cancelled, and cancels several times', async () => {
    const id = await placed();
    await cancel(id, [[cup, 2]]);
    await cancel(id, [[cup, 3]]);
    const { body } = await cancel(id, [[pan, 1]]);
    expect(body).toMatchObject({
      itemsSummary: [
        { productId: cup, quantity: 0, cancelledQuantity: 5, lineTotal: 0 },
        { productId: pan, quantity: 1, cancelledQuantity: 1, lineTotal: 20 },
      ],
      totalCost: 20,
    });
    expect((await events(id)).at(-1)?.data.remaining).toMatchObject([{ productId: pan, quantity: 1 }]);
  });

  it('a cancellation of units adds up the quantities of lines with the same product', async () => {
    const id = await placed();
    const { body } = await cancel(id, [
      [cup, 1],
      [pan, 1],
      [cup, 2],
    ]);
    expect(body.itemsSummary).toMatchObject([{ quantity: 2, cancelledQuantity: 3 }, { quantity: 1 }]);
  });

  it('a cancellation of units cancels the order when the lines have all units that it still has', async () => {
    const product = await shop.product({ stock: 10 });
    const id = await placed({ [product]: 4, [cup]: 1 });
    await cancel(id, [[product, 1]]);
    const { body } = await cancel(id, [
      [cup, 1],
      [product, 3],
    ]);
    expect(body).toMatchObject({
      status: 'cancelled',
      allowedActions: [],
      cancellation: { cancelledAt: body.updatedAt },
    });
    const [, , last] = await events(id);
    expect(last).toMatchObject({
      type: 'order.cancelled.v1',
      data: {
        items: [
          { productId: product, quantity: 3 },
          { productId: cup, quantity: 1 },
        ],
      },
    });
    await eventually(async () => expect(await shop.stockOf(product)).toEqual({ stock: 10, reserved: 0, oversold: 0 }));
  });

  it('a cancellation of units does not change a cancelled order', async () => {
    const id = await placed();
    const before = await shop.act(customer, id, 'cancel');
    const answer = await cancel(id, [[cup, 1]]);
    expect([answer.status, answer.body.itemsSummary]).toEqual([200, before.body.itemsSummary]);
    expect((await events(id)).map(({ type }) => type)).toEqual(['order.created.v1', 'order.cancelled.v1']);
  });

  it('a cancellation of units is possible for staff while the order is processing; history, event and ledger name the staff', async () => {
    const id = await placed();
    await shop.act(shop.staff, id, 'process');
    const packer = await shop.customer('orders:fulfil');
    const { body } = await cancel(id, [[pan, 2]], {}, packer);
    expect([body.status, body.totalCost]).toEqual(['processing', 12.5]);
    expect((await history(id)).body.items.at(-1)).toMatchObject({ status: 'processing', by: 'staff' });
    expect((await events(id)).at(-1)?.data.cancelledBy).toBe('staff');
    await eventually(async () => {
      const { rows } = await shop.services
        .service('catalogue')
        .database.query(
          "SELECT actor, order_id, quantity, reason FROM stock_ledger WHERE order_id = $1 AND kind = 'released'",
          [id],
        );
      expect(rows).toEqual([{ actor: 'staff', order_id: id, quantity: 2, reason: 'cancelled in the order' }]);
    });
  });

  it('a cancellation of units ships only the rest, and the event of the shipment lists it', async () => {
    const product = await shop.product({ stock: 10 });
    const id = await placed({ [product]: 4, [cup]: 1 });
    await shop.act(shop.staff, id, 'process');
    await cancel(id, [[product, 3]]);
    await cancel(id, [[cup, 1]]);
    expect((await shop.act(shop.staff, id, 'ship')).body).toMatchObject({ status: 'shipped', totalCost: 9.99 });
    expect((await events(id)).at(-1)?.data.items).toEqual([{ productId: product, name: 'Cup', quantity: 1 }]);
    await eventually(async () => expect(await shop.stockOf(product)).toEqual({ stock: 9, reserved: 0, oversold: 0 }));
  });

  it('a cancellation of units ships the rest that is on hand, although the order had more', async () => {
    const product = await shop.product({ stock: 2, status: 'backorder' });
    const id = await placed({ [product]: 3 });
    await shop.act(shop.staff, id, 'process');
    expect((await shop.act(shop.staff, id, 'ship')).body.code).toBe('stock-missing');
    await cancel(id, [[product, 1]]);
    expect((await shop.act(shop.staff, id, 'ship')).status).toBe(200);
    await eventually(async () => expect(await shop.stockOf(product)).toEqual({ stock: 0, reserved: 0, oversold: 0 }));
  });

  it('a cancellation of units makes what was paid for the units due as a refund, and the rest when the order is cancelled', async () => {
    const payer = await shop.customer('payments:write');
    const id = await placed();
    await shop.act(payer, id, 'payments', { body: { reference: newId(), amount: 52.5, currency: 'EUR' } });
    const part = await cancel(id, [[pan, 1]]);
    expect(part.body).toMatchObject({ totalCost: 32.5, payment: { status: 'paid', refundDue: 20 } });
    const all = await shop.act(customer, id, 'cancel');
    expect(all.body).toMatchObject({ status: 'cancelled', payment: { status: 'refund_due', refundDue: 52.5 } });
    const published = await events(id);
    const owed = published.filter(({ type }) => type === 'refund.due.v1').map(({ data }) => data);
    const refunds = published.filter(({ type }) => /cancelled/.test(type)).map(({ data }) => data.refund);
    expect(refunds).toEqual([
      { amount: 20, currency: 'EUR' },
      { amount: 32.5, currency: 'EUR' },
    ]);
    expect(owed).toMatchObject([
      { amount: 20, cause: 'lines-cancelled' },
      { amount: 32.5, cause: 'cancelled' },
    ]);
  });

  it('a cancellation of units is stored under the idempotency key and replayed', async () => {
    const id = await placed();
    const headers = { 'Idempotency-Key': newId() };
    const first = await cancel(id, [[cup, 1]], { headers });
    const again = await cancel(id, [[cup, 1]], { headers });
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.text).toBe(first.text);
    expect(again.body).toHaveProperty('itemsSummary.0.cancelledQuantity', 1);
    expect((await cancel(id, [[cup, 2]], { headers })).status).toBe(422);
  });
});

describe('204', () => {
  it('a cancellation of units has no body when asked with Prefer: return=minimal', async () => {
    const id = await placed();
    const answer = await cancel(id, [[cup, 1]], { headers: { Prefer: 'return=minimal' } });
    expect([answer.status, answer.text, answer.headers.etag]).toEqual([204, '', 'W/"2"']);
  });
});

describe('400', () => {
  it.each([
    { lines: [] },
    { lines: [{ productId: newId() }] },
    { lines: [{ productId: newId(), quantity: 0 }] },
    { lines: [{ productId: newId(), quantity: 1.5 }] },
    { lines: [{ productId: newId(), quantity: 100_000 }] },
    { lines: [{ productId: 'x', quantity: 1 }] },
    { lines: [{ productId: newId(), quantity: 1, name: 'x' }] },
    { lines: Array.from({ length: 101 }, () => ({ productId: newId(), quantity: 1 })) },
    { lines: null },
    { lines: {} },
  ])('a cancellation of units returns 400 for %j and changes nothing', async (body) => {
    const id = await placed();
    expect((await shop.act(customer, id, 'cancel', { body })).status).toBe(400);
    expect((await shop.view(customer, id)).headers.etag).toBe('W/"1"');
  });
});

describe('404', () => {
  it("a cancellation of units returns 404 for another account's order", async () => {
    const id = await placed();
    expect((await cancel(id, [[cup, 1]], {}, await shop.customer())).status).toBe(404);
    expect((await shop.view(customer, id)).headers.etag).toBe('W/"1"');
  });
});

describe('409', () => {
  it('a cancellation of units lists every line of which the order has fewer units, with the present figure, and changes nothing', async () => {
    const id = await placed();
    await cancel(id, [[cup, 3]]);
    const unknown = newId();
    const answer = await cancel(id, [
      [cup, 1],
      [pan, 2],
      [unknown, 1],
      [cup, 2],
    ]);
    expect([answer.status, answer.body.code]).toEqual([409, 'units-not-in-order']);
    const fewer = { productId: cup, requested: 3, remaining: 2, detail: '3 are to be cancelled, the order has 2' };
    const none = { productId: unknown, requested: 1, remaining: 0, detail: '1 are to be cancelled, the order has 0' };
    expect(answer.body.errors).toEqual([
      { pointer: '/lines/0', ...fewer },
      { pointer: '/lines/2', ...none },
      { pointer: '/lines/3', ...fewer },
    ]);
    expect((await shop.view(customer, id)).headers.etag).toBe('W/"2"');
    expect(await events(id)).toHaveLength(2);
  });

  it('a cancellation of units returns 409 for a shipped order', async () => {
    const id = await placed();
    for (const action of ['process', 'ship']) await shop.act(shop.staff, id, action);
    expect((await cancel(id, [[cup, 1]])).body.code).toBe('order-already-shipped');
  });
});

describe('412', () => {
  it('a cancellation of units returns 412 for a stale version and changes nothing', async () => {
    const id = await placed();
    await cancel(id, [[cup, 1]], { headers: { 'If-Match': 'W/"1"' } });
    const answer = await cancel(id, [[cup, 1]], { headers: { 'If-Match': 'W/"1"' } });
    expect(answer.status).toBe(412);
    expect((await shop.view(customer, id)).body).toHaveProperty('itemsSummary.0.cancelledQuantity', 1);
  });
});
