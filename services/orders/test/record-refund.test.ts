// POST /v1/orders/{orderId}/refunds, by status; 400, 403 and 404 are tested with the payments.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import type { TestAnswer } from '@shop/shared/testing';
import { listRefundsDue } from '../src/operator/index.ts';
import { type Customer, startShop, type TestShop } from './shop.ts';

let shop: TestShop;
let customer: Customer;
let payer: Customer;

beforeAll(async () => {
  shop = await startShop({ environment: { PAYMENTS: 'required' } });
  [customer, payer] = await Promise.all([shop.customer(), shop.customer('payments:write')]);
});
afterAll(() => shop.stop());

/** Returns a cancelled order for which 9.99 was paid. */
async function cancelled(by: Customer = customer): Promise<string> {
  const { body } = await shop.order(customer, { [await shop.product()]: 1 });
  await report(body.id, 'payments', 9.99);
  expect((await shop.act(by, body.id, 'cancel')).status).toBe(200);
  return body.id;
}

const report = (id: string, kind: 'payments' | 'refunds', amount: number, reference = newId()) =>
  shop.act(payer, id, kind, { body: { reference, amount, currency: 'EUR' } });
const paymentOf = async (id: string) => (await shop.view(customer, id)).body.payment;
const code = ({ status, body }: TestAnswer) => [status, body.code];
const dueList = () => listRefundsDue({ DATABASE_URL: shop.services.database.urls.orders }, 1_000);

describe('200', () => {
  it('POST /v1/orders/{orderId}/refunds closes the refund of an order that its customer or staff cancelled', async () => {
    for (const by of [customer, shop.staff]) {
      const id = await cancelled(by);
      expect(await paymentOf(id)).toMatchObject({ status: 'refund_due', refundDue: 9.99 });
      const { rows } = await shop.services.service('orders').database.query(
        `SELECT type, sequence::int, data FROM outbox
         WHERE subject = $1 AND type NOT IN ('order.created.v1', 'order.updated.v1') ORDER BY sequence`,
        [id],
      );
      expect(rows).toMatchObject([
        { type: 'order.paid.v1', sequence: 2 },
        { type: 'order.cancelled.v1', sequence: 3, data: { refund: { amount: 9.99, currency: 'EUR' } } },
        { type: 'refund.due.v1', sequence: 4, data: { amount: 9.99, currency: 'EUR', cause: 'cancelled' } },
      ]);
      expect(rows[2].data).not.toHaveProperty('receivedAt');
      const answer = await report(id, 'refunds', 9.99);
      expect([answer.status, answer.body.outcome]).toEqual([200, 'refunded']);
      const payment = await paymentOf(id);
      expect(payment).toMatchObject({ status: 'refunded', refunded: 9.99 });
      expect(payment).not.toHaveProperty('refundDue');
    }
  });

  it('POST /v1/orders/{orderId}/refunds returns the same 200 for each repetition of a reference', async () => {
    const [id, reference] = [await cancelled(), newId()];
    const answers = await Promise.all(Array.from({ length: 5 }, () => report(id, 'refunds', 9.99, reference)));
    const [first] = answers;
    for (const { status, text } of answers) expect([status, text]).toEqual([200, first?.text]);
    const { rows } = await shop.services
      .service('orders')
      .database.query("SELECT id FROM outbox WHERE subject = $1 AND type = 'refund.done.v1'", [id]);
    expect(rows).toHaveLength(1);
  });

  it('several refunds add up, and concurrent ones never exceed the due amount', async () => {
    const id = await cancelled();
    const answers = await Promise.all(Array.from({ length: 10 }, () => report(id, 'refunds', 2)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
    expect(await paymentOf(id)).toMatchObject({ status: 'refund_due', refundDue: 1.99, refunded: 8 });
    await report(id, 'refunds', 1.99);
    expect(await paymentOf(id)).toMatchObject({ status: 'refunded', refunded: 9.99 });
  });

  it('a refund becomes due again when more money is received', async () => {
    const id = await cancelled();
    await report(id, 'refunds', 9.99);
    await report(id, 'payments', 5);
    expect(await paymentOf(id)).toMatchObject({ status: 'refund_due', refundDue: 5, refunded: 9.99 });
  });
});

describe('409', () => {
  it('POST /v1/orders/{orderId}/refunds names both amounts of a refund of more than is due, and records nothing', async () => {
    const id = await cancelled();
    const answer = await report(id, 'refunds', 10);
    expect(code(answer)).toEqual([409, 'refund-exceeds-due']);
    expect(answer.body.errors).toMatchObject([{ pointer: '/amount', detail: 'is 10.00, but 9.99 is due', due: 9.99 }]);
    expect(await paymentOf(id)).toMatchObject({ status: 'refund_due', refundDue: 9.99 });
  });

  it('POST /v1/orders/{orderId}/refunds returns 409 when the order is paid or due', async () => {
    const { body } = await shop.order(customer, { [await shop.product()]: 1 });
    expect(code(await report(body.id, 'refunds', 1))).toEqual([409, 'refund-exceeds-due']);
    await report(body.id, 'payments', 9.99);
    expect(code(await report(body.id, 'refunds', 1))).toEqual([409, 'refund-exceeds-due']);
  });
});

describe('422', () => {
  it('POST /v1/orders/{orderId}/refunds returns 422 for a reference of another refund, while a payment may have the same', async () => {
    const [id, other, reference] = [await cancelled(), await cancelled(), newId()];
    await report(id, 'payments', 1, reference);
    expect((await report(id, 'refunds', 9.99, reference)).status).toBe(200);
    expect(code(await report(id, 'refunds', 1, reference))).toEqual([422, 'reference-reused']);
    expect(code(await report(other, 'refunds', 9.99, reference))).toEqual([422, 'reference-reused']);
  });
});

describe('the list of refunds that are due', () => {
  it('the list of refunds that are due has every order of which money is owed, with its payments, oldest first', async () => {
    const id = await cancelled();
    const reference = newId();
    await report(id, 'payments', 3, reference);
    const listed = await dueList();
    expect(listed.map(({ dueSince }) => dueSince)).toEqual(listed.map(({ dueSince }) => dueSince).toSorted());
    expect(listed.find(({ orderId }) => orderId === id)).toEqual({
      orderId: id,
      accountId: customer.accountId,
      status: 'cancelled',
      amount: 12.99,
      currency: 'EUR',
      dueSince: expect.any(String),
      causes: ['cancelled'],
      payments: [
        { reference: expect.any(String), amount: 9.99 },
        { reference, amount: 3 },
      ],
    });
    await report(id, 'refunds', 12.99);
    expect((await dueList()).map(({ orderId }) => orderId)).not.toContain(id);
  });
});
