// The recordings that the consumers of orders keep agree with the real process.
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { EventType, Transport } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import { connectTestTransport, eventOf, messageOf, type ProviderStates, recordedEvents } from '@shop/shared/testing';
import { consumerContractsSuite } from '@shop/shared/testing/consumer-contracts';
import { addDeliveredOrders } from './delivered-orders.ts';
import { type RecordedShop, startRecordedShop } from './recorded-shop.ts';

const ofCatalogue = recordedEvents({ consumer: 'orders', provider: 'catalogue' });
let shop: RecordedShop;
let transport: Transport;

beforeAll(async () => {
  shop = await startRecordedShop({ SELLER_NAME: 'Acme' });
  transport = await connectTestTransport(shop.services.database.urls.events);
});
afterAll(async () => {
  await transport?.close();
  await shop?.stop();
});

interface Ordered {
  readonly account: string;
  readonly order: string;
  readonly lamp: string;
  readonly chair: string;
}

async function ordered(): Promise<Ordered> {
  const account = newId();
  shop.catalogue.given('two lamps and a chair are on hand');
  const shipping_address = { street_address: 'Lindenweg 4', city: 'Basel', postal_code: '4052', country: 'CH' };
  const { status, body } = await shop.order(account, { shipping_address });
  expect(status).toBe(201);
  return { account, order: body.id, lamp: shop.lamp, chair: shop.chair };
}

async function cancelled(lines?: object): Promise<Ordered> {
  const ids = await ordered();
  const reason = lines === undefined ? 'ordered twice' : 'one is enough';
  const body = { cancellation_reason: reason, ...lines };
  expect((await shop.asCustomer(ids.account, ids.order, 'cancel', body)).status).toBe(200);
  return ids;
}

const withoutLamp = () => cancelled({ lines: [{ productId: shop.lamp, quantity: 1 }] });

async function processed(): Promise<Ordered> {
  const ids = await withoutLamp();
  expect((await shop.asStaff(ids.order, 'process')).status).toBe(200);
  return ids;
}

async function shipped(tracking?: object): Promise<Ordered> {
  const ids = await processed();
  shop.catalogue.given('two lamps and a chair are reserved');
  expect((await shop.asStaff(ids.order, 'ship', tracking)).status).toBe(200);
  return ids;
}

/** Sends a recorded event of the catalogue about this. */
async function publish<Values extends object>(type: EventType, values: Values): Promise<Values> {
  await transport.publish([messageOf(eventOf(ofCatalogue, type), new Map(Object.entries(values)))]);
  return values;
}

/** The total cost of the recorded order. */
const total = 160.48;

async function paid(amount: number): Promise<Ordered> {
  const ids = await ordered();
  const payment = { reference: newId(), amount, currency: 'EUR' };
  const { status } = await shop.asStaff(ids.order, 'payments', payment);
  expect(status).toBe(amount === total ? 200 : 409);
  return ids;
}

/** Ships the order, and takes the lamp through these steps of a return. */
async function returned(
  steps: Readonly<Record<string, object | undefined>> = {},
): Promise<Ordered & { readonly return: string }> {
  const ids = await ordered();
  await shop.asStaff(ids.order, 'process');
  shop.catalogue.given('two lamps and a chair are reserved');
  await shop.asStaff(ids.order, 'ship');
  const lines = [{ productId: shop.lamp, quantity: 1, reason: 'damaged' }];
  const { body } = await shop.asCustomer(ids.account, ids.order, 'returns', { lines });
  for (const [step, given] of Object.entries(steps))
    expect((await shop.asStaff(body.id, step, given, 'returns')).status).toBe(200);
  return { ...ids, return: body.id };
}

const received = () => returned({ receive: { lines: [{ productId: shop.lamp, quantity: 1, restock: true }] } });

async function discount(): Promise<string> {
  const { client } = shop.services.service('orders');
  const token = await shop.services.issuer.sign({ scopes: ['settings:write'] });
  const body = { name: 'Ten', code: newId(), kind: 'percent', value: 10 };
  const answer = await client.post('/v1/discounts', { token, body });
  expect(answer.status).toBe(201);
  return answer.body.id;
}

const states: ProviderStates = {
  'a discount is added': async () => ({ setting: await discount() }),
  'the return of a lamp is requested': async () => ({ ...(await returned()) }),
  'the return of a lamp is approved': async () => ({ ...(await returned({ approve: undefined })) }),
  'the return of a lamp is refused': async () => ({
    ...(await returned({ refuse: { reason: 'The seal is broken.' } })),
  }),
  'the return of a lamp is withdrawn': async () => ({ ...(await returned({ withdraw: undefined })) }),
  'a lamp came back': async () => ({ ...(await received()) }),
  'a lamp that came back is in the stock': async () => ({ ...(await publish('stock.returned.v1', await received())) }),
  'the stock of a cancelled order is released': async () => ({
    ...(await publish('stock.released.v1', await cancelled())),
  }),
  'two lamps and a chair are ordered': async () => ({ ...(await ordered()) }),
  'the customer cancels an order': async () => ({ ...(await cancelled()) }),
  'the customer cancels a lamp of an order': async () => ({ ...(await withoutLamp()) }),
  'an order is processed': async () => ({ ...(await processed()) }),
  'an order of which a lamp was cancelled is shipped': async () => ({
    ...(await shipped({ carrier: 'Post', tracking_number: '990012345678901234' })),
  }),
  async 'an order is delivered'() {
    const ids = await shipped();
    expect((await shop.asStaff(ids.order, 'deliver')).status).toBe(200);
    return { ...ids };
  },
  'an order is paid': async () => ({ ...(await paid(total)) }),
  'the payment of an order differs from its total': async () => ({ ...(await paid(99)) }),
  async 'the payment of an order is refunded'() {
    const ids = await paid(99);
    const refund = { reference: newId(), amount: 99, currency: 'EUR' };
    expect((await shop.asStaff(ids.order, 'refunds', refund)).status).toBe(200);
    return { ...ids };
  },
  async 'an order has the reservation'() {
    const { account, order } = await ordered();
    const { database } = shop.services.service('orders');
    const { rows } = await database.query('SELECT reservation_id AS id FROM orders WHERE id = $1', [order]);
    return { account, order, reservation: rows[0].id };
  },
  'no order has the reservation': async () => ({ reservation: newId() }),
  'the order does not exist': async () => ({ order: newId() }),
  'the account has no orders': async () => ({ account: newId() }),
  async 'the account has 201 orders'() {
    const account = newId();
    const { database } = shop.services.service('orders');
    const ids = await addDeliveredOrders(database, { accountId: account, count: 201 });
    return { account, first: ids[0] ?? '', last: ids[199] ?? '', final: ids[200] ?? '' };
  },
};

consumerContractsSuite('orders', states, () => shop.services);
