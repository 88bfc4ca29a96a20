// POST /v1/orders/{orderId}/payments, by status, and the effect of a required payment on an order.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, type TestAnswer } from '@shop/shared/testing';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;
let payer: Customer;

beforeAll(async () => {
  shop = await startShop({ environment: { PAYMENTS: 'required', PAYMENT_DUE_MINUTES: '30' } });
  [customer, payer] = await Promise.all([shop.customer(), shop.customer('payments:write')]);
});
afterAll(() => shop.stop());

/** Places an order of 19.98. */
async function placed(price = 9.99): Promise<string> {
  const { status, body } = await shop.order(customer, { [await shop.product({ price })]: 2 });
  expect(status).toBe(201);
  return body.id;
}

interface Money {
  readonly reference?: string;
  readonly amount?: number;
  readonly currency?: string;
}

const pay = (orderId: string, { reference = newId(), amount = 19.98, currency = 'EUR' }: Money = {}, headers = {}) =>
  shop.act(payer, orderId, 'payments', { body: { reference, amount, currency }, headers });
const refund = (orderId: string, amount: number) =>
  shop.act(payer, orderId, 'refunds', { body: { reference: newId(), amount, currency: 'EUR' } });
const paymentOf = async (orderId: string) => (await shop.view(customer, orderId)).body.payment;
const code = ({ status, body }: TestAnswer) => [status, body.code];

async function eventsOf(orderId: string, ...types: string[]) {
  const { rows } = await shop.services
    .service('orders')
    .database.query(`SELECT type, sequence::int, data FROM outbox WHERE subject = $1 AND type = ANY ($2) ORDER BY id`, [
      orderId,
      types,
    ]);
  return rows;
}

describe('200', () => {
  it('POST /v1/orders/{orderId}/payments pays an order that is due, which then can be processed', async () => {
    const order = (await shop.order(customer, { [await shop.product()]: 2 })).body;
    const dueAt = new Date(Date.parse(String(order.createdAt)) + 30 * 60_000).toISOString();
    expect(order.payment).toEqual({ status: 'due', dueAt });
    expect(await eventsOf(order.id, 'order.created.v1')).toMatchObject([{ data: { paymentDueAt: dueAt } }]);
    expect((await shop.view(shop.staff, order.id)).body.allowedActions).toEqual(['cancel']);
    const answer = await pay(order.id, { reference: 'first payment' });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        orderId: order.id,
        reference: 'first payment',
        amount: 19.98,
        currency: 'EUR',
        recordedAt: expect.any(String),
        outcome: 'paid',
      },
    ]);
    const { body, headers } = await shop.view(shop.staff, order.id);
    expect(body.payment).toEqual({ status: 'paid', dueAt, paidAt: answer.body.recordedAt });
    expect([body.allowedActions, headers.etag]).toEqual([['cancel', 'process'], 'W/"2"']);
    expect(await eventsOf(order.id, 'order.paid.v1')).toMatchObject([
      { sequence: 2, data: { orderId: order.id, accountId: customer.accountId, amount: 19.98, currency: 'EUR' } },
    ]);
    expect((await shop.act(shop.staff, order.id, 'process')).status).toBe(200);
  });

  it('POST /v1/orders/{orderId}/payments returns the same 200 for each repetition of a reference, after changes of the order, too', async () => {
    const id = await placed();
    const reference = newId();
    const first = await pay(id, { reference });
    const repeated = await Promise.all(Array.from({ length: 5 }, () => pay(id, { reference })));
    await shop.act(customer, id, 'cancel');
    for (const { status, text } of [...repeated, await pay(id, { reference })]) {
      expect([status, text]).toEqual([200, first.text]);
    }
    expect(await eventsOf(id, 'order.paid.v1')).toHaveLength(1);
    expect(await paymentOf(id)).toMatchObject({ status: 'refund_due', refundDue: 19.98 });
  });

  it('a recorded payment is stored under the idempotency key and replayed', async () => {
    const [id, reference] = [await placed(), newId()];
    const headers = { 'Idempotency-Key': newId() };
    const first = await pay(id, { reference }, headers);
    const again = await pay(id, { reference }, headers);
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([200, first.text, 'true']);
  });

  it('POST /v1/orders/{orderId}/payments makes money for a cancelled order due as a refund', async () => {
    const id = await placed();
    await shop.act(customer, id, 'cancel');
    expect(await paymentOf(id)).toMatchObject({ status: 'cancelled' });
    const answer = await pay(id, { amount: 20 });
    expect([answer.status, answer.body.outcome]).toEqual([200, 'refund_due']);
    expect(await paymentOf(id)).toMatchObject({ status: 'refund_due', refundDue: 20 });
    expect(await eventsOf(id, 'refund.due.v1')).toMatchObject([
      { data: { amount: 20, cause: 'cancelled', receivedAt: answer.body.recordedAt } },
    ]);
    const [cancelled] = await eventsOf(id, 'order.cancelled.v1');
    expect(cancelled.data).not.toHaveProperty('refund');
  });

  it('POST /v1/orders/{orderId}/payments makes a second payment due as a refund, and the order stays paid', async () => {
    const id = await placed();
    await pay(id);
    const second = await pay(id);
    expect([second.status, second.body.outcome]).toEqual([200, 'refund_due']);
    expect(await paymentOf(id)).toMatchObject({ status: 'paid', refundDue: 19.98 });
    expect((await shop.act(shop.staff, id, 'process')).status).toBe(200);
    await shop.act(shop.staff, id, 'cancel');
    expect(await paymentOf(id)).toMatchObject({ status: 'refund_due', refundDue: 39.96 });
  });

  it('POST /v1/orders/{orderId}/payments pays an order once when 20 payments arrive concurrently', async () => {
    const id = await placed();
    const answers = await Promise.all(Array.from({ length: 20 }, () => pay(id)));
    expect(answers.filter(({ body }) => body.outcome === 'paid')).toHaveLength(1);
    expect(answers.filter(({ body }) => body.outcome === 'refund_due')).toHaveLength(19);
    expect(await paymentOf(id)).toMatchObject({ status: 'paid', refundDue: 379.62 });
  });

  it('a payment is exact for the largest amounts', async () => {
    const { body } = await shop.order(customer, { [await shop.product({ price: 9_999_999.99, stock: 999 })]: 999 });
    expect(code(await pay(body.id, { amount: 9_989_999_990 }))).toEqual([409, 'payment-amount-differs']);
    expect((await pay(body.id, { amount: 9_989_999_990.01 })).body.outcome).toBe('paid');
  });
});

describe('400', () => {
  it.each<[unknown, string[]]>([
    [{}, ['/reference', '/amount', '/currency']],
    [{ reference: '', amount: 1, currency: 'EUR' }, ['/reference']],
    [{ reference: 'x'.repeat(201), amount: 1, currency: 'EUR' }, ['/reference']],
    [{ reference: 'a\u0000b', amount: 1, currency: 'EUR' }, ['/reference']],
    [{ reference: 'a', amount: 0, currency: 'EUR' }, ['/amount']],
    [{ reference: 'a', amount: -1, currency: 'EUR' }, ['/amount']],
    [{ reference: 'a', amount: '1', currency: 'EUR' }, ['/amount']],
    [{ reference: 'a', amount: 1.001, currency: 'USD' }, ['/amount', '/currency']],
    [{ reference: 'a', amount: 1, currency: 'EUR', status: 'paid' }, ['/status']],
  ])('POST /v1/orders/{orderId}/payments names every fault of %j', async (body, pointers) => {
    const id = await placed();
    for (const action of ['payments', 'refunds']) {
      const answer = await shop.act(payer, id, action, { body });
      expect([answer.status, answer.body.errors?.map(({ pointer }) => pointer).sort()]).toEqual([400, pointers.sort()]);
    }
    expect(await paymentOf(id)).toEqual({ status: 'due', dueAt: expect.any(String) });
  });
});

describe('403', () => {
  it('POST /v1/orders/{orderId}/payments returns 403 without the scope payments:write', async () => {
    const id = await placed();
    const others = await shop.customer('orders:fulfil', 'orders:read-all', 'catalogue:write');
    for (const who of [customer, others]) {
      const body = { reference: newId(), amount: 19.98, currency: 'EUR' };
      expect((await shop.act(who, id, 'payments', { body })).status).toBe(403);
      expect((await shop.act(who, id, 'refunds', { body })).status).toBe(403);
    }
  });
});

describe('404', () => {
  it.each([newId(), 'none'])(
    'POST /v1/orders/{orderId}/payments returns 404 for an order that does not exist: %s',
    async (id) => {
      expect((await pay(id)).status).toBe(404);
      expect((await refund(id, 1)).status).toBe(404);
    },
  );
});

describe('409', () => {
  it.each([19.97, 19.99, 0.01, 1_000])(
    'POST /v1/orders/{orderId}/payments names both amounts of a payment of %d, which becomes due as a refund',
    async (amount) => {
      const [id, reference] = [await placed(), newId()];
      const answer = await pay(id, { reference, amount });
      expect(code(answer)).toEqual([409, 'payment-amount-differs']);
      expect(answer.body.errors).toMatchObject([
        { pointer: '/amount', detail: `is ${amount.toFixed(2)}, but 19.98 is due`, due: 19.98 },
      ]);
      expect(await paymentOf(id)).toMatchObject({ status: 'due', refundDue: amount });
      expect(await eventsOf(id, 'refund.due.v1')).toMatchObject([
        { data: { amount, cause: 'amount-differs', orderCost: 19.98, receivedAt: expect.any(String) } },
      ]);
      const again = await pay(id, { reference, amount });
      expect([again.status, again.body.errors]).toEqual([409, answer.body.errors]);
      expect(await paymentOf(id)).toMatchObject({ status: 'due', refundDue: amount });
      expect((await pay(id)).body.outcome).toBe('paid');
      await shop.act(customer, id, 'cancel');
      const owed = Math.round((amount + 19.98) * 100) / 100;
      expect(await paymentOf(id)).toMatchObject({ status: 'refund_due', refundDue: owed });
    },
  );

  it('a 409 of a payment is stored under the idempotency key together with its effect', async () => {
    const [id, reference] = [await placed(), newId()];
    const headers = { 'Idempotency-Key': newId() };
    await pay(id, { reference, amount: 1 }, headers);
    const again = await pay(id, { reference, amount: 1 }, headers);
    expect([...code(again), again.headers['idempotency-replayed']]).toEqual([409, 'payment-amount-differs', 'true']);
    expect(await paymentOf(id)).toMatchObject({ status: 'due', refundDue: 1 });
  });

  it('POST /v1/orders/{orderId}/payments returns 409 to process before the order is paid', async () => {
    const id = await placed();
    expect(code(await shop.act(shop.staff, id, 'process'))).toEqual([409, 'payment-due']);
    expect((await shop.view(customer, id)).body.status).toBe('pending');
  });
});

describe('422', () => {
  it('POST /v1/orders/{orderId}/payments returns 422 for a reference that was recorded with another amount or order', async () => {
    const [id, other, reference] = [await placed(), await placed(), newId()];
    await pay(id, { reference });
    expect(code(await pay(id, { reference, amount: 1 }))).toEqual([422, 'reference-reused']);
    expect(code(await pay(other, { reference }))).toEqual([422, 'reference-reused']);
    expect(await paymentOf(id)).not.toHaveProperty('refundDue');
    expect(await paymentOf(other)).toMatchObject({ status: 'due' });
  });

  it('POST /v1/orders/{orderId}/payments returns 422 for one of two concurrent payments of two accounts with one reference', async () => {
    for (let round = 0; round < 10; round += 1) {
      const stranger = await shop.customer();
      const { body } = await shop.order(stranger, { [await shop.product()]: 2 });
      const reference = newId();
      const answers = await Promise.all([pay(await placed(), { reference }), pay(body.id, { reference })]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
    }
  });
});

describe('an order that is not paid', () => {
  it('an order that is not paid expires when its time is over, and a paid order never expires, however long it is pending', async () => {
    const [due, paid, later] = [await placed(), await placed(), await placed()];
    await pay(paid);
    const { database } = shop.services.service('orders');
    const past = "UPDATE order_payments SET due_at = now() - interval '1 second' WHERE order_id = ANY ($1::uuid[])";
    await database.query(past, [[due, paid]]);
    await database.query("UPDATE orders SET created_at = now() - interval '1 year' WHERE id = $1", [paid]);
    await eventually(async () => expect((await shop.view(customer, due)).body.status).toBe('cancelled'), 30_000);
    expect((await shop.view(customer, due)).body).toMatchObject({
      cancellation: { reason: 'expired' },
      payment: { status: 'cancelled' },
    });
    expect((await shop.view(customer, paid)).body).toMatchObject({ status: 'pending', payment: { status: 'paid' } });
    expect((await shop.view(customer, later)).body).toMatchObject({ status: 'pending', payment: { status: 'due' } });
    expect((await pay(due)).body.outcome).toBe('refund_due');
  });

  it('an order that is not paid needs no payment when it costs nothing', async () => {
    const { body } = await shop.order(customer, { [await shop.product({ price: 0 })]: 1 });
    expect(body.payment).toBeUndefined();
    expect((await shop.act(shop.staff, body.id, 'process')).status).toBe(200);
  });
});

describe('an order whose paid lines are cancelled', () => {
  it('an order whose paid lines are cancelled needs no payment once only products without a price remain, and can be processed', async () => {
    const [cup, gift] = await Promise.all([shop.product(), shop.product({ price: 0 })]);
    const { body } = await shop.order(customer, { [cup]: 1, [gift]: 1 });
    expect(body.payment).toMatchObject({ status: 'due' });
    await shop.act(customer, body.id, 'cancel', { body: { lines: [{ productId: cup, quantity: 1 }] } });
    expect((await shop.view(customer, body.id)).body).toMatchObject({
      totalCost: 0,
      status: 'pending',
      payment: { status: 'not_required' },
    });
    expect((await shop.act(shop.staff, body.id, 'process')).status).toBe(200);
  });
});

describe('an order that needs no payment', () => {
  it('an order that needs no payment has no payment until money is received; then it is paid, or the money is due as a refund', async () => {
    const other = await startShop();
    try {
      const [buyer, machine] = [await other.customer(), await other.customer('payments:write')];
      const order = async () => (await other.order(buyer, { [await other.product()]: 1 })).body;
      const report = (id: string, amount: number) =>
        other.act(machine, id, 'payments', { body: { reference: newId(), amount, currency: 'EUR' } });
      const [first, second] = [await order(), await order()];
      expect(first.payment).toBeUndefined();
      expect((await report(first.id, 9.99)).body.outcome).toBe('paid');
      expect((await other.view(buyer, first.id)).body.payment).toMatchObject({ status: 'paid' });
      expect((await report(second.id, 1)).status).toBe(409);
      expect((await other.view(buyer, second.id)).body.payment).toEqual({ status: 'not_required', refundDue: 1 });
      expect((await other.act(other.staff, second.id, 'process')).status).toBe(200);
    } finally {
      await other.stop();
    }
  });
});
