// The calls of examples/stripe to Stripe, with the stand-in for Stripe and without a shop.
import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Movement, Provider } from '../../../examples/stripe/src/provider.ts';
import {
  example,
  installStripe,
  loadExample,
  type StandIn,
  secretKey,
  startStandIn,
  webhookSecret,
} from './started-adapter.ts';
import type { Intent, Refund } from './stripe-api.ts';

interface Sources {
  readonly createStripe: (settings: { secretKey: string; webhookSecret: string; apiBase: URL }) => Provider;
  readonly UnverifiedError: new () => Error;
}
interface Signing {
  readonly webhooks: { generateTestHeaderString(of: { payload: string; secret: string; timestamp?: number }): string };
}

let standIn: StandIn;
let provider: Provider;
let UnverifiedError: Sources['UnverifiedError'];
let signing: Signing;
let lastOrder = 0;

beforeAll(async () => {
  await installStripe();
  standIn = await startStandIn({ faults: false });
  const sources = await loadExample<Sources>('stripe.ts', 'provider.ts');
  provider = sources.createStripe({ secretKey, webhookSecret, apiBase: new URL(standIn.url) });
  ({ UnverifiedError } = sources);
  signing = createRequire(example)('stripe') as Signing;
});
afterAll(() => standIn?.stop());

const newOrder = (): string => `order-${++lastOrder}`;

/** @returns a payment of 1,000 cents that has succeeded */
async function paid(orderId: string): Promise<string> {
  const body = { amount: 1_000, currency: 'eur', metadata: { orderId } };
  const { id } = await standIn.act<Intent>('intent', body);
  await standIn.act('pay', { intent: id, fault: 'silent' });
  return id;
}

/** Lists the payments of an order when the search has them. */
async function paymentsOf(orderId: string, count: number) {
  for (;;) {
    const payments = await provider.paymentsOf(orderId);
    if (payments.length >= count) return payments;
  }
}

async function movementsSince(time: number, orderId: string): Promise<Movement[]> {
  const found: Movement[] = [];
  for await (const movement of provider.movementsSince(new Date(time))) {
    if (movement.orderId === orderId) found.push(movement);
  }
  return found;
}

const intentsOf = async (orderId: string): Promise<Intent[]> =>
  (await standIn.ledger()).intents.filter(({ metadata }) => metadata.orderId === orderId);
const refundsOf = async (payment: string): Promise<Refund[]> =>
  (await standIn.ledger()).refunds.filter((refund) => refund.payment_intent === payment);

/** Reads an event with a signature that is valid unless a secret or a time is given. */
function read(
  type: string,
  object: object,
  { secret = webhookSecret, timestamp = Math.floor(Date.now() / 1_000) } = {},
) {
  const payload = JSON.stringify({ id: 'evt_1', object: 'event', type, data: { object } });
  const signature = signing.webhooks.generateTestHeaderString({ payload, secret, timestamp });
  return provider.readReport(Buffer.from(payload), signature);
}

it('a payment that is begun again for the same order and amount is the same one, with another amount another one', async () => {
  const orderId = newOrder();
  const begin = (amount: number) => provider.createPayment({ orderId, amount, currency: 'EUR' });
  const first = await begin(1_000);
  expect(await begin(1_000)).toEqual(first);
  expect(await begin(500)).not.toEqual(first);
  expect(await intentsOf(orderId)).toMatchObject([
    { amount: 1_000, currency: 'eur' },
    { amount: 500, currency: 'eur' },
  ]);
});

it.each(['lost', 'refused'])('a payment whose responses are %s three times is begun once', async (fault) => {
  const orderId = newOrder();
  const begin = () => provider.createPayment({ orderId, amount: 1_000, currency: 'EUR' });
  await standIn.act('fault', { fault });
  // The package of Stripe gives up after three requests.
  if (fault === 'lost') await expect(begin()).rejects.toThrow();
  expect(await begin()).toEqual({ clientSecret: expect.stringContaining('_secret_') });
  expect(await intentsOf(orderId)).toHaveLength(1);
});

it('a payment is begun with another idempotency key after a 500, which Stripe repeats for the first key', async () => {
  const orderId = newOrder();
  await standIn.act('fault', { fault: 'broken' });
  const begin = () => provider.createPayment({ orderId, amount: 1_000, currency: 'EUR' });
  expect(await begin()).toEqual(await begin());
  expect(await intentsOf(orderId)).toHaveLength(1);
});

it('a refund is made once for each idempotency key, and refused for the same key with another amount', async () => {
  const orderId = newOrder();
  const payment = await paid(orderId);
  const request = { payment, orderId, amount: 300, key: `refund:${orderId}:0` };
  await standIn.act('fault', { fault: 'lost' });
  await expect(provider.refund(request)).rejects.toThrow();
  await provider.refund(request);
  await expect(provider.refund({ ...request, amount: 400 })).rejects.toThrow('same parameters');
  expect(await refundsOf(payment)).toMatchObject([{ amount: 300, metadata: { orderId } }]);
});

it('the payments of an order are those that were received, with all of their refunds', async () => {
  const orderId = newOrder();
  const [one, other] = [await paid(orderId), await paid(orderId)];
  await provider.createPayment({ orderId, amount: 1_000, currency: 'EUR' });
  await paid(newOrder());
  // More than a page of refunds.
  for (let made = 0; made < 21; made += 1) await standIn.act('refund', { intent: one, amount: 1 });
  const payments = await paymentsOf(orderId, 2);
  const payment = { kind: 'payment', orderId, amount: 1_000, currency: 'EUR', state: 'done' };
  expect(payments).toMatchObject([
    { ...payment, reference: other, refunds: [] },
    { ...payment, reference: one },
  ]);
  const refund = { kind: 'refund', orderId, amount: 1, currency: 'EUR', state: 'done' };
  expect(payments[1]?.refunds).toHaveLength(21);
  expect(payments[1]?.refunds[20]).toMatchObject(refund);
});

it('the movements are every payment that was received and every refund since a time, with the order of the payment', async () => {
  const began = Date.now();
  const orderId = newOrder();
  const payments: string[] = [];
  for (let made = 0; made < 21; made += 1) payments.push(await paid(orderId));
  await provider.createPayment({ orderId, amount: 1_000, currency: 'EUR' });
  const [intent] = payments;
  const refunds: string[] = [];
  // A refund of the dashboard has no metadata.
  for (let made = 0; made < 21; made += 1) {
    refunds.push((await standIn.act<Refund>('refund', { intent, amount: 1 })).id);
  }
  const movements = await movementsSince(began, orderId);
  expect(movements.map(({ reference }) => reference).sort()).toEqual([...payments, ...refunds].sort());
  expect(movements.find(({ reference }) => reference === intent)).toEqual({
    kind: 'payment',
    reference: intent,
    orderId,
    amount: 1_000,
    currency: 'EUR',
    state: 'done',
  });
  expect(await movementsSince(Date.now() + 60_000, orderId)).toEqual([]);
});

it.each([
  ['succeeded', 'done'],
  ['pending', 'open'],
  ['requires_action', 'open'],
  ['failed', 'failed'],
  ['canceled', 'failed'],
])('a refund that is %s at present is %s, whatever its event says', async (status, state) => {
  const orderId = newOrder();
  const payment = await paid(orderId);
  const refund = await standIn.act<Refund>('refund', { intent: payment, amount: 1_000 });
  await standIn.act('change', { refund: refund.id, status });
  const movement = { kind: 'refund', reference: refund.id, orderId, amount: 1_000, currency: 'EUR', state };
  for (const type of ['refund.created', 'refund.updated', 'refund.failed']) {
    expect(await read(type, { ...refund, status: 'unknown' })).toEqual(movement);
  }
  expect((await paymentsOf(orderId, 1))[0]?.refunds).toEqual([movement]);
  expect(await movementsSince(0, orderId)).toContainEqual(movement);
});

it('an event is read only with a signature of the secret that is at most five minutes old', async () => {
  const intent = { id: 'pi_x', amount_received: 500, currency: 'eur', metadata: { orderId: 'x' } };
  const movement = { kind: 'payment', reference: 'pi_x', orderId: 'x', amount: 500, currency: 'EUR', state: 'done' };
  const type = 'payment_intent.succeeded';
  expect(await read(type, intent)).toEqual(movement);
  await expect(read(type, intent, { secret: 'whsec_2' })).rejects.toThrow(UnverifiedError);
  const old = Math.floor(Date.now() / 1_000) - 301;
  await expect(read(type, intent, { timestamp: old })).rejects.toThrow(UnverifiedError);
  await expect(provider.readReport(Buffer.from('{}'), '')).rejects.toThrow(UnverifiedError);
});

it('an event is a movement only for a received payment or a refund', async () => {
  const intent = { id: 'pi_x', amount_received: 0, currency: 'eur', metadata: { orderId: 'x' } };
  expect(await read('payment_intent.created', intent)).toBeUndefined();
  expect(await read('payment_intent.succeeded', { ...intent, metadata: {} })).toMatchObject({ orderId: undefined });
});
