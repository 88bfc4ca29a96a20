// The adapter of examples/stripe with a running shop in yen, which has no decimals: its answers to customers and to Stripe,
// and its refunds. Each test plans the faults of Stripe.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePorts } from '@shop/shared/embedded';
import { type Customer, type ShopWithStripe, startShopWithStripe } from './shop-with-stripe.ts';
import { installStripe } from './started-adapter.ts';
import type { Intent, Refund } from './stripe-api.ts';

const price = 999;

let shop: ShopWithStripe;
beforeAll(async () => {
  await installStripe();
  shop = await startShopWithStripe({ currency: 'JPY', decimals: 0, price, faults: false });
});
afterAll(() => shop?.end());

/** Places and pays an order of two units. */
async function paidOrder() {
  const customer = await shop.newCustomer();
  const { id: orderId, totalCost } = await shop.place(customer, 2);
  await shop.pay(customer, orderId, 'none');
  await shop.becomes(customer, orderId, { status: 'paid' });
  return { customer, orderId, totalCost };
}

async function intentsOf(orderId: string): Promise<Intent[]> {
  return (await shop.standIn.ledger()).intents.filter(({ metadata }) => metadata.orderId === orderId);
}

/** Creates a payment intent that the adapter did not ask for, and that is not paid yet. @returns its id */
async function otherIntent(orderId: string, amount: number): Promise<string> {
  const body = { amount: shop.toMinor(amount), currency: 'jpy', metadata: { orderId } };
  return (await shop.standIn.act<Intent>('intent', body)).id;
}

/** The refunds of an order, the oldest first. */
async function refundsOf(orderId: string): Promise<Refund[]> {
  const names = new Set((await intentsOf(orderId)).map(({ id }) => id));
  return (await shop.standIn.ledger()).refunds.filter((refund) => names.has(refund.payment_intent));
}

/** Waits until an order has so many refunds. @returns the last one */
function refundOf(orderId: string, count: number): Promise<Refund> {
  return shop.eventually(async () => {
    const refunds = await refundsOf(orderId);
    expect(refunds).toHaveLength(count);
    const last = refunds.at(-1);
    if (last === undefined) throw new Error('no refund');
    return last;
  });
}

/** Waits until the adapters have searched the payments of an order twice. The first search may have begun before. */
async function looksAgain(orderId: string): Promise<void> {
  const searches = async (): Promise<number> => (await shop.standIn.ledger()).searches[orderId] ?? 0;
  const before = await searches();
  await shop.eventually(async () => expect(await searches()).toBeGreaterThanOrEqual(before + 2));
}

/** What the customer has to get back at present. */
async function owed({ client }: Customer, orderId: string): Promise<number> {
  return (await client.orders.get(orderId)).payment?.refundDue ?? 0;
}

describe('payments', () => {
  it('the adapter begins one payment for a due order of the caller, and passes on the refusals of the shop', async () => {
    const foreign = await shop.place(await shop.newCustomer(), 1);
    const customer = await shop.newCustomer();
    const { id: orderId, totalCost } = await shop.place(customer, 2);
    const begin = (body: object, authorization?: string) => shop.begin(customer, body, authorization);
    const problem = { type: 'application/problem+json' };
    expect(await begin({ orderId: foreign.id })).toMatchObject({ ...problem, status: 404, code: 'not-found' });
    expect(await begin({ orderId: '../accounts/me' })).toMatchObject({ ...problem, status: 400 });
    expect(await begin({ orderId }, '')).toMatchObject({ ...problem, status: 401, code: 'unauthenticated' });
    expect(await begin({ orderId }, 'Bearer x')).toMatchObject({ ...problem, status: 401 });
    expect(await begin({ order: orderId })).toMatchObject({ ...problem, status: 400, code: 'invalid-request' });

    const [one, other] = [await begin({ orderId }), await begin({ orderId })];
    expect(one).toMatchObject({ status: 200, type: 'application/json' });
    expect(one.clientSecret).toBe(other.clientSecret);
    expect(await intentsOf(orderId)).toMatchObject([{ amount: shop.toMinor(totalCost), currency: 'jpy' }]);
    await shop.standIn.act('pay', { intent: one.clientSecret });
    await shop.becomes(customer, orderId, { status: 'paid' });
    expect(await begin({ orderId })).toMatchObject({ ...problem, status: 409, code: 'order-not-due' });
  });

  it('the adapter refuses unsigned events, and accepts events that are not for an order of the shop', async () => {
    const body = JSON.stringify({ type: 'payment_intent.succeeded', data: { object: {} } });
    const headers = { 'Stripe-Signature': `t=${Math.floor(Date.now() / 1_000)},v1=${'0'.repeat(64)}` };
    expect((await fetch(`${shop.address}/webhook`, { method: 'POST', body, headers })).status).toBe(400);
    expect((await fetch(`${shop.address}/webhook`, { method: 'POST', body })).status).toBe(400);
    const intent = { id: 'pi_foreign', amount_received: 500, currency: 'jpy', status: 'succeeded' };
    const send = (metadata: object, type = 'payment_intent.succeeded') =>
      shop.standIn.act('event', { type, object: { ...intent, metadata } });
    expect(await send({})).toEqual({ status: 204 });
    expect(await send({ orderId: 'A-1' })).toEqual({ status: 204 });
    expect(await send({ orderId: '01931f70-6a10-7b52-9c3e-2f4d8e6a0b01' })).toEqual({ status: 204 });
    expect(await send({}, 'payment_intent.created')).toEqual({ status: 204 });
    expect(shop.output()).toContain('The payment pi_foreign is not for an order.');
  });

  it('the adapter answers 503 while the shop or Stripe is unavailable, and continues afterwards', async () => {
    const customer = await shop.newCustomer();
    const { id: orderId } = await shop.place(customer, 1);
    await shop.standIn.act('unavailable', { value: true });
    expect(await shop.begin(customer, { orderId })).toMatchObject({ status: 503, code: 'temporarily-unavailable' });
    await shop.standIn.act('unavailable', { value: false });
    const [nowhere = 0] = await freePorts(1);
    await shop.stop(0);
    await shop.start(0, { SHOP_URL: `http://127.0.0.1:${nowhere}` });
    const intent = { id: 'pi_1', amount_received: 1, currency: 'jpy', status: 'succeeded', metadata: { orderId } };
    const type = 'payment_intent.succeeded';
    expect(await shop.standIn.act('event', { type, object: intent })).toEqual({ status: 503 });
    await shop.stop(0);
    await shop.start(0);
    await shop.pay(customer, orderId, 'none');
    await shop.becomes(customer, orderId, { status: 'paid' });
  });

  it('the adapter records a payment that no event reports when it reconciles', async () => {
    const customer = await shop.newCustomer();
    const { id: orderId } = await shop.place(customer, 1);
    await shop.pay(customer, orderId, 'silent');
    await shop.becomes(customer, orderId, { status: 'paid' });
  });

  it('the adapter accepts the event of a wrong amount, and pays back this payment and not the right one', async () => {
    const customer = await shop.newCustomer();
    const { id: orderId, totalCost } = await shop.place(customer, 1);
    const wrong = await otherIntent(orderId, totalCost + 1);
    const right = await shop.begun(customer, orderId);
    await shop.standIn.act('unavailable', { value: true });
    await shop.standIn.act('pay', { intent: wrong, fault: 'silent' });
    const object = (await intentsOf(orderId)).find(({ id }) => id === wrong);
    const sent = await shop.standIn.act('event', { type: 'payment_intent.succeeded', object });
    expect(sent).toEqual({ status: 204 });
    await shop.standIn.act('pay', { intent: right, fault: 'none' });
    await shop.becomes(customer, orderId, { status: 'paid', refundDue: totalCost + 1 });
    // The adapters can choose between both payments.
    const ids = (await intentsOf(orderId)).map(({ id }) => id);
    await shop.eventually(async () =>
      expect((await shop.standIn.ledger()).searchable).toEqual(expect.arrayContaining(ids)),
    );
    await shop.standIn.act('unavailable', { value: false });
    await shop.becomes(customer, orderId, { status: 'paid', refunded: totalCost + 1 });
    expect(await refundsOf(orderId)).toMatchObject([{ payment_intent: wrong, amount: shop.toMinor(totalCost + 1) }]);
  });
});

describe('refunds', () => {
  it('the adapter pays back each part that becomes due, in yen, and what is due in the end from several payments', async () => {
    const { customer, orderId, totalCost } = await paidOrder();
    await shop.payOther(orderId, shop.toMinor(totalCost), 'none');
    await shop.becomes(customer, orderId, { status: 'paid', refunded: totalCost });
    await shop.cancel(customer, orderId, 1);
    const left = (await customer.client.orders.get(orderId)).totalCost;
    await shop.becomes(customer, orderId, { status: 'paid', refunded: 2 * totalCost - left });
    await shop.cancel(customer, orderId);
    await shop.becomes(customer, orderId, { status: 'refunded', refunded: 2 * totalCost });
    const amounts = (await refundsOf(orderId)).map(({ amount }) => amount);
    expect(amounts).toEqual([totalCost, totalCost - left, left].map(shop.toMinor));
  });

  it('the adapter pays back two payments whose sum becomes due at once, although no payment has its amount', async () => {
    const { customer, orderId, totalCost } = await paidOrder();
    await shop.standIn.act('unavailable', { value: true });
    const other = await otherIntent(orderId, totalCost + 7);
    await shop.cancel(customer, orderId);
    await shop.standIn.act('pay', { intent: other, fault: 'none' });
    await shop.eventually(async () => expect(await owed(customer, orderId)).toBe(2 * totalCost + 7));
    await shop.standIn.act('unavailable', { value: false });
    await shop.becomes(customer, orderId, { status: 'refunded', refunded: 2 * totalCost + 7 });
    expect(await refundsOf(orderId)).toHaveLength(2);
  });

  it('the adapter requests a refund once that Stripe has not paid yet, or whose response is lost', async () => {
    const { customer, orderId, totalCost } = await paidOrder();
    await shop.standIn.act('hold', { value: true });
    await shop.standIn.act('fault', { fault: 'lost' });
    await shop.cancel(customer, orderId, 1);
    const refund = await refundOf(orderId, 1);
    await looksAgain(orderId);
    expect(await refundsOf(orderId)).toHaveLength(1);
    const left = (await customer.client.orders.get(orderId)).totalCost;
    // The shop owes the money until Stripe has paid it.
    expect(await owed(customer, orderId)).toBe(totalCost - left);
    await shop.standIn.act('hold', { value: false });
    await shop.standIn.act('change', { refund: refund.id, status: 'succeeded' });
    await shop.becomes(customer, orderId, { status: 'paid', refunded: totalCost - left });
    expect(await refundsOf(orderId)).toHaveLength(1);
  });

  it('two adapters that request a refund at the same time pay it once', async () => {
    const { customer, orderId, totalCost } = await paidOrder();
    await shop.standIn.act('meet', { requests: 2 });
    await shop.cancel(customer, orderId, 1);
    const left = (await customer.client.orders.get(orderId)).totalCost;
    await shop.becomes(customer, orderId, { status: 'paid', refunded: totalCost - left });
    expect(await refundsOf(orderId)).toHaveLength(1);
  });

  it('the adapter requests a refund again that failed before the shop recorded it, also long after the order changed', async () => {
    const { customer, orderId, totalCost } = await paidOrder();
    await shop.standIn.act('hold', { value: true });
    await shop.cancel(customer, orderId);
    const { id: first } = await refundOf(orderId, 1);
    await shop.database.query("UPDATE orders SET updated_at = updated_at - interval '1 hour' WHERE id = $1", [orderId]);
    await shop.standIn.act('hold', { value: false });
    await shop.standIn.act('change', { refund: first, status: 'failed' });
    await shop.becomes(customer, orderId, { status: 'refunded', refunded: totalCost });
    expect(await refundsOf(orderId)).toMatchObject([{ status: 'failed' }, { status: 'succeeded' }]);
  });

  it('the adapter tries a refund that Stripe did not accept until it is paid, also long after the order changed', async () => {
    const { customer, orderId, totalCost } = await paidOrder();
    await shop.standIn.act('unavailable', { value: true });
    await shop.cancel(customer, orderId);
    const attempts = (): number => shop.output().split(`The refund for the order ${orderId} is tried again`).length - 1;
    await shop.eventually(() => expect(attempts()).toBeGreaterThan(0));
    // These effects change the order.
    await shop.eventually(async () =>
      expect((await customer.client.orders.get(orderId)).cancellation).toMatchObject({
        stockReleased: { state: 'done' },
        customerNotified: { state: 'done' },
      }),
    );
    await shop.database.query("UPDATE orders SET updated_at = updated_at - interval '1 hour' WHERE id = $1", [orderId]);
    // Each of the two adapters may have read the order before it was changed.
    const before = attempts();
    await shop.eventually(() => expect(attempts()).toBeGreaterThan(before + 2));
    await shop.standIn.act('unavailable', { value: false });
    await shop.becomes(customer, orderId, { status: 'refunded', refunded: totalCost });
  });

  it('the adapter leaves an order to a person after three failed refunds', async () => {
    const { customer, orderId, totalCost } = await paidOrder();
    await shop.standIn.act('hold', { value: true });
    await shop.cancel(customer, orderId);
    for (const count of [1, 2, 3]) {
      const { id: refund } = await refundOf(orderId, count);
      await shop.standIn.act('change', { refund, status: 'failed' });
    }
    await shop.eventually(() =>
      expect(shop.output()).toContain(`3 refunds for the order ${orderId} failed. Pay the customer in another way.`),
    );
    await looksAgain(orderId);
    expect(await refundsOf(orderId)).toHaveLength(3);
    expect(await owed(customer, orderId)).toBe(totalCost);
    await shop.standIn.act('hold', { value: false });
  });

  it('the adapter pays a refund that failed after the shop recorded it not again, and reports it for a person', async () => {
    const { customer, orderId, totalCost } = await paidOrder();
    await shop.cancel(customer, orderId);
    await shop.becomes(customer, orderId, { status: 'refunded', refunded: totalCost });
    const { id: refund } = await refundOf(orderId, 1);
    await shop.standIn.act('change', { refund, status: 'failed' });
    await shop.eventually(() =>
      expect(shop.output()).toContain(`The refund ${refund} for the order ${orderId} failed.`),
    );
    await looksAgain(orderId);
    expect(await refundsOf(orderId)).toHaveLength(1);
  });

  it('the adapter answers 503 to a refund of the dashboard until the shop owes it, and then records it', async () => {
    const { customer, orderId, totalCost } = await paidOrder();
    const [intent] = await intentsOf(orderId);
    const object = await shop.standIn.act<Refund>('refund', { intent: intent?.id, amount: 1 });
    expect(await shop.standIn.act('event', { type: 'refund.created', object })).toEqual({ status: 503 });
    await shop.cancel(customer, orderId);
    await shop.becomes(customer, orderId, { status: 'refunded', refunded: totalCost });
    expect((await refundsOf(orderId)).map(({ amount }) => amount)).toEqual([1, shop.toMinor(totalCost) - 1]);
    expect(await shop.standIn.act('event', { type: 'refund.created', object })).toEqual({ status: 204 });
  });
});
