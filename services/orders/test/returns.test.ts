// The course of a return, and its refusals.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { verifyStock } from '../../catalogue/src/operator/index.ts';
import { type ReturningShop, returningShop } from './returned-orders.ts';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;
let stranger: Customer;
let returns: ReturningShop;
let mug: string;
let book: string;

beforeAll(async () => {
  shop = await startShop({ environment: { PAYMENTS: 'required', HOLD_ORDERS: '0', HOLD_UNITS: '0' } });
  customer = await shop.customer();
  stranger = await shop.customer();
  returns = returningShop(shop, customer);
  mug = await shop.product({ name: 'Mug', price: 14.5, stock: 1_000 });
  book = await shop.product({ name: 'Book', price: 20, stock: 1_000 });
});
afterAll(() => shop.stop());

async function eventOf(returnId: string, type: string): Promise<Record<string, unknown>> {
  const { database } = shop.services.service('orders');
  const { rows } = await database.query('SELECT data FROM outbox WHERE subject = $1 AND type = $2', [returnId, type]);
  return rows[0]?.data;
}

it('a return goes from its request over the approval to the receipt: stock, refund and order follow', async () => {
  const orderId = await returns.ordered({ [mug]: 3, [book]: 1 });
  const requested = await returns.request(customer, orderId, { [mug]: 2 }, { comment: 'The handles are broken.' });
  expect(requested.status).toBe(201);
  const { id, ...shown } = requested.body;
  expect(requested.headers.location).toBe(`/v1/returns/${id}`);
  expect(shown).toEqual({
    orderId,
    accountId: customer.accountId,
    status: 'requested',
    lines: [{ productId: mug, name: 'Mug', quantity: 2, reason: 'damaged' }],
    comment: 'The handles are broken.',
    currency: 'EUR',
    allowedActions: ['withdraw'],
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
  });
  expect(await eventOf(id, 'return.requested.v1')).toMatchObject({ orderId, returnId: id, lines: shown.lines });

  const approved = await returns.act(shop.staff, id, 'approve');
  expect(approved.body).toMatchObject({ status: 'approved', allowedActions: ['refuse', 'receive', 'withdraw'] });
  expect(await eventOf(id, 'return.approved.v1')).toMatchObject({ returnId: id });

  await eventually(async () => expect(await shop.stockOf(mug)).toMatchObject({ stock: 997, reserved: 0 }));
  const received = await returns.receive(id, { [mug]: 2 });
  expect(received.body).toMatchObject({
    status: 'received',
    lines: [{ productId: mug, quantity: 2, received: 2, restock: true }],
    refund: 29,
    stockReturned: { state: 'pending' },
    allowedActions: [],
  });
  expect(await eventOf(id, 'return.received.v1')).toMatchObject({
    lines: [{ productId: mug, name: 'Mug', quantity: 2, restock: true }],
    refund: { amount: 29, currency: 'EUR' },
  });
  await eventually(async () =>
    expect((await returns.view(customer, id)).body).toMatchObject({ stockReturned: { state: 'done' } }),
  );
  expect(await eventOf(id, 'return.updated.v1')).toEqual({ orderId, accountId: customer.accountId, returnId: id });
  expect(await eventOf(orderId, 'order.returned.v1')).toMatchObject({
    returnId: id,
    items: [{ productId: mug, name: 'Mug', quantity: 2 }],
  });
  expect((await shop.stockOf(mug)).stock).toBe(999);
  expect((await verifyStock({ DATABASE_URL: shop.services.database.urls.catalogue })).faults).toEqual([]);
  const order = (await shop.view(customer, orderId)).body;
  expect(order).toMatchObject({
    itemsSummary: [
      { productId: mug, quantity: 3, returnedQuantity: 2, lineTotal: 43.5 },
      { productId: book, quantity: 1 },
    ],
    totalCost: 63.5,
    payment: { status: 'paid', refundDue: 29 },
  });
  expect(order).not.toHaveProperty('itemsSummary.0.cancelledQuantity');
});

it('the refund of a return is due by an event that names the return', async () => {
  const orderId = await returns.ordered({ [mug]: 1 });
  const id = await returns.requested(orderId, { [mug]: 1 });
  await returns.receive(id, { [mug]: 1 });
  const { database } = shop.services.service('orders');
  const { rows } = await database.query("SELECT data FROM outbox WHERE subject = $1 AND type = 'refund.due.v1'", [
    orderId,
  ]);
  expect(rows).toMatchObject([{ data: { amount: 14.5, cause: 'lines-cancelled', returnId: id } }]);
  const { rows: ledger } = await database.query(
    "SELECT cause FROM payment_ledger WHERE order_id = $1 AND kind = 'refund-due'",
    [orderId],
  );
  expect(ledger).toEqual([{ cause: 'returned' }]);
});

it('of units that did not arrive nothing is refunded, and they can be returned later', async () => {
  const cup = await shop.product({ name: 'Cup', price: 14.5, stock: 10 });
  const orderId = await returns.ordered({ [cup]: 2, [book]: 1 });
  const id = await returns.requested(orderId, { [cup]: 2, [book]: 1 });
  await eventually(async () => expect((await shop.stockOf(cup)).stock).toBe(8));
  const { body } = await returns.receive(id, { [cup]: 1, [book]: 0 }, false);
  expect(body).toMatchObject({ lines: [{ received: 1, restock: false }, { received: 0 }], refund: 14.5 });
  expect(body).not.toHaveProperty('stockReturned');
  const again = await returns.request(customer, orderId, { [cup]: 1, [book]: 1 });
  expect(again.status).toBe(201);
  await returns.receive(again.body.id, { [cup]: 0, [book]: 1 });
  await eventually(async () =>
    expect((await returns.view(customer, again.body.id)).body).toMatchObject({ stockReturned: { state: 'done' } }),
  );
  expect((await shop.stockOf(cup)).stock).toBe(8);
});

it('a unit of an archived product comes back into its stock', async () => {
  const lamp = await shop.product({ name: 'Lamp', stock: 5 });
  const id = await returns.requested(await returns.ordered({ [lamp]: 1 }), { [lamp]: 1 });
  const { token } = shop.staff;
  expect((await shop.catalogue.call('DELETE', `/v1/products/${lamp}`, { token })).status).toBe(204);
  await returns.receive(id, { [lamp]: 1 });
  await eventually(async () => expect((await shop.stockOf(lamp)).stock).toBe(5));
});

it('units that come back are first assigned to orders beyond the stock', async () => {
  const scarce = await shop.product({ name: 'Scarce', stock: 1, status: 'backorder' });
  const id = await returns.requested(await returns.ordered({ [scarce]: 1 }), { [scarce]: 1 });
  await returns.ordered({ [scarce]: 1 }, {}, 'paid');
  await eventually(async () => expect(await shop.stockOf(scarce)).toEqual({ stock: 0, reserved: 0, oversold: 1 }));
  await returns.receive(id, { [scarce]: 1 });
  await eventually(async () => expect(await shop.stockOf(scarce)).toEqual({ stock: 1, reserved: 1, oversold: 0 }));
});

describe('the request for a return', () => {
  it('the request for a return is refused for an order that has not shipped', async () => {
    const orderId = await returns.ordered({ [mug]: 1 }, {}, 'paid');
    const { status, body } = await returns.request(customer, orderId, { [mug]: 1 });
    expect([status, body.code]).toEqual([409, 'invalid-transition']);
  });

  it('the request for a return is possible between shipment and delivery', async () => {
    const orderId = await returns.ordered({ [mug]: 1 }, {}, 'shipped');
    expect((await returns.request(customer, orderId, { [mug]: 1 })).status).toBe(201);
  });

  it('the request for a return is refused with the day after the period, except for staff', async () => {
    const orderId = await returns.ordered({ [mug]: 1 });
    const { database } = shop.services.service('orders');
    const deliverAt = (at: string) =>
      database.query("UPDATE order_history SET at = $2 WHERE order_id = $1 AND status = 'delivered'", [orderId, at]);
    const ago = (milliseconds: number) => new Date(Date.now() - milliseconds);
    const period = 14 * 86_400_000;
    const delivered = ago(period + 60_000);
    await deliverAt(delivered.toISOString());
    const { status, body } = await returns.request(customer, orderId, { [mug]: 1 });
    const day = new Date(delivered.getTime() + period).toISOString().slice(0, 10);
    expect({ status, body }).toMatchObject({
      status: 409,
      body: {
        code: 'return-period-ended',
        detail: `The order could be returned until ${day}. Nothing was recorded.`,
      },
    });
    const byStaff = await returns.request(shop.staff, orderId, { [mug]: 1 });
    expect([byStaff.status, byStaff.body.accountId]).toEqual([201, customer.accountId]);
    await returns.act(shop.staff, byStaff.body.id, 'withdraw');
    await deliverAt(ago(period - 60_000).toISOString());
    expect((await returns.request(customer, orderId, { [mug]: 1 })).status).toBe(201);
  });

  it('the request for a return is refused for more units than shipped, less cancelled units and other returns', async () => {
    const orderId = await returns.ordered({ [mug]: 4 }, {}, 'paid');
    await shop.act(customer, orderId, 'cancel', { body: { lines: [{ productId: mug, quantity: 1 }] } });
    for (const step of ['process', 'ship']) await shop.act(shop.staff, orderId, step);
    const first = await returns.requested(orderId, { [mug]: 2 });
    const refused = await returns.request(customer, orderId, { [mug]: 2, [book]: 1 });
    expect({ status: refused.status, body: refused.body }).toMatchObject({
      status: 409,
      body: {
        code: 'units-not-in-order',
        errors: [
          { pointer: '/lines/0', productId: mug, requested: 2, remaining: 1 },
          { pointer: '/lines/1', productId: book, requested: 1, remaining: 0 },
        ],
      },
    });
    await returns.act(customer, first, 'withdraw');
    expect((await returns.request(customer, orderId, { [mug]: 3 })).status).toBe(201);
  });

  it('the request for a return is refused when two lines name one product', async () => {
    const orderId = await returns.ordered({ [mug]: 2 });
    const line = { productId: mug, quantity: 1, reason: 'other' };
    const { status, body } = await returns.request(customer, orderId, {}, { lines: [line, line] });
    expect({ status, errors: body.errors }).toMatchObject({ status: 400, errors: [{ pointer: '/lines/1/productId' }] });
  });

  it('the request for a return by another account gets the response for a missing order', async () => {
    const orderId = await returns.ordered({ [mug]: 1 });
    expect((await returns.request(stranger, orderId, { [mug]: 1 })).status).toBe(404);
  });

  it('the request for a return with an Idempotency-Key can be repeated', async () => {
    const orderId = await returns.ordered({ [mug]: 1 });
    const call = {
      token: customer.token,
      body: { lines: [{ productId: mug, quantity: 1, reason: 'other' }] },
      headers: { 'Idempotency-Key': newId() },
    };
    const [first, second] = [
      await shop.orders.post(`/v1/orders/${orderId}/returns`, call),
      await shop.orders.post(`/v1/orders/${orderId}/returns`, call),
    ];
    expect([first.status, second.status, second.body]).toEqual([201, 201, first.body]);
  });
});

describe('a step of a return', () => {
  const requested = async () => returns.requested(await returns.ordered({ [mug]: 1 }), { [mug]: 1 });
  const steps: Readonly<Record<string, (id: string) => ReturnType<ReturningShop['act']>>> = {
    approve: (id) => returns.act(shop.staff, id, 'approve'),
    refuse: (id) => returns.act(shop.staff, id, 'refuse', { reason: 'Worn' }),
    receive: (id) => returns.receive(id, { [mug]: 1 }),
    withdraw: (id) => returns.act(customer, id, 'withdraw'),
  };
  const run = async (name: string, id: string) => (await steps[name]?.(id))?.status;

  it.each([
    ['approve', { approve: 200, refuse: 200 }],
    ['approve', { receive: 200, approve: 409, refuse: 409, withdraw: 409 }],
    ['approve', { withdraw: 200, receive: 409 }],
    ['refuse', { refuse: 200, approve: 409, receive: 409, withdraw: 409 }],
    ['withdraw', { withdraw: 200, approve: 409, refuse: 409, receive: 409 }],
    ['receive', { receive: 200, approve: 409, refuse: 409, withdraw: 409 }],
  ])('the steps of a return follow the table after %s: %j', async (first, next) => {
    const id = await requested();
    expect(await run(first, id)).toBe(200);
    for (const [name, status] of Object.entries(next)) expect([name, await run(name, id)]).toEqual([name, status]);
  });

  it('a repeated step changes nothing and publishes no event', async () => {
    const id = await requested();
    const first = await returns.act(shop.staff, id, 'refuse', { reason: 'Worn' });
    const second = await returns.act(shop.staff, id, 'refuse', { reason: 'Another reason' });
    expect(second.body).toEqual(first.body);
    expect(second.body).toMatchObject({ status: 'refused', refusalReason: 'Worn' });
    const { rows } = await shop.services
      .service('orders')
      .database.query('SELECT type FROM outbox WHERE subject = $1 ORDER BY id', [id]);
    expect(rows.map(({ type }) => type)).toEqual(['return.requested.v1', 'return.refused.v1']);
  });

  it('a step with a stale If-Match is refused with 412', async () => {
    const id = await requested();
    const { headers } = await returns.view(shop.staff, id);
    await returns.act(shop.staff, id, 'approve');
    const { status } = await shop.orders.post(`/v1/returns/${id}/withdraw`, {
      token: customer.token,
      headers: { 'If-Match': String(headers.etag) },
    });
    expect(status).toBe(412);
  });

  it('a receipt is refused that omits a line, or has more units or other products than the return', async () => {
    const orderId = await returns.ordered({ [mug]: 2, [book]: 1 });
    const id = await returns.requested(orderId, { [mug]: 1, [book]: 1 });
    const omitted = await returns.receive(id, { [mug]: 1 });
    expect({ status: omitted.status, errors: omitted.body.errors }).toMatchObject({
      status: 400,
      errors: [{ pointer: '/lines', productId: book }],
    });
    const more = await returns.receive(id, { [mug]: 2, [book]: 1 });
    expect({ status: more.status, body: more.body }).toMatchObject({
      status: 409,
      body: { code: 'units-not-in-order', errors: [{ pointer: '/lines/0', requested: 2, remaining: 1 }] },
    });
    const other = await returns.receive(id, { [mug]: 1, [book]: 1, [newId()]: 0 });
    expect([other.status, other.body.errors?.[0]?.pointer]).toEqual([409, '/lines/2']);
    expect((await returns.view(customer, id)).body).toMatchObject({ status: 'requested' });
  });
});

describe('the list of returns', () => {
  it('the list of returns has those of the caller, and for staff those of all accounts, by state and order', async () => {
    const owner = await shop.customer();
    const theirs = returningShop(shop, owner);
    const orderId = await theirs.ordered({ [mug]: 2 });
    const first = await theirs.requested(orderId, { [mug]: 1 });
    const second = await theirs.requested(orderId, { [mug]: 1 });
    await theirs.act(shop.staff, first, 'approve');
    const list = async (who: Customer, query: string) => {
      const { status, body } = await shop.orders.get(`/v1/returns${query}`, { token: who.token });
      return status === 200 ? body.items.map(({ id }: { id: string }) => id) : status;
    };
    expect(await list(owner, '')).toEqual([second, first]);
    expect(await list(owner, '?sort=createdAt:asc&fields=id')).toEqual([first, second]);
    expect(await list(stranger, '')).toEqual([]);
    expect(await list(stranger, '?accountId=all')).toBe(403);
    expect(await list(stranger, `?accountId=${owner.accountId}`)).toBe(403);
    expect(await list(shop.staff, `?accountId=all&orderId=${orderId}`)).toEqual([second, first]);
    expect(await list(shop.staff, `?accountId=all&orderId=${orderId}&status=approved`)).toEqual([first]);
    expect(await list(shop.staff, `?accountId=${owner.accountId}&status=ne:approved`)).toEqual([second]);
    expect(await list(owner, '?status=lost')).toBe(400);
  });
});
