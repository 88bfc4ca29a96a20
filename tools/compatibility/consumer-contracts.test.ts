// Consumer contracts are complete, and a change of either side that breaks the other is found: by the tests of the
// consumer against its recordings, or by the tests of the service against the recordings of its consumers.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createServiceTokens } from '@shop/shared/auth';
import { loadContract } from '@shop/shared/contract';
import { newId } from '@shop/shared/runtime';
import { serviceNames } from '@shop/shared/shop';
import {
  checkCall,
  connectTestTransport,
  findOperation,
  messageOf,
  type ProviderStates,
  type ReceivedEvents,
  type RecordedCall,
  type RecordedEvent,
  type RecordedService,
  receiveEvents,
  recordedCalls,
  recordedEvents,
  serviceFolder,
  startRecordedService,
  type TestAnswer,
  testSecret,
} from '@shop/shared/testing';
import { type RecordedShop, startRecordedShop } from '../../services/orders/test/recorded-shop.ts';
import { consumers } from '../../shared/src/events/generated.ts';

function the<Recording extends RecordedCall | RecordedEvent>(
  recordings: readonly Recording[],
  given: string,
): Recording {
  const found = recordings.find((each) => each.given === given);
  if (found === undefined) throw new Error(`nothing is recorded given ${given}`);
  return found;
}

describe('the recordings', () => {
  it.each(serviceNames)('the recordings have a call of each internal operation of %s', (service) => {
    const contract = loadContract(`${serviceFolder(service)}/openapi.yaml`);
    const called = recordedCalls({ provider: service }).map(
      ({ method, path }) => findOperation([contract], method, path)?.operationId,
    );
    const internal = contract.operations.filter((operation) => operation.internal);
    expect(called).not.toContain(undefined);
    expect(internal.map(({ operationId }) => operationId).filter((id) => !called.includes(id))).toEqual([]);
  });

  it.each(Object.entries(consumers))('the recordings have each event that %s handles', (consumer, handled) => {
    const types = recordedEvents({ consumer: consumer.split('.')[0] ?? '' }).map(({ type }) => type);
    expect([...new Set(types)].sort()).toEqual([...handled].sort());
  });
});

describe('a change of a service', () => {
  let shop: RecordedShop;
  let received: ReceivedEvents;
  const call = the(recordedCalls({ consumer: 'catalogue', provider: 'orders' }), 'an order has the reservation');
  const event = the(recordedEvents({ consumer: 'catalogue', provider: 'orders' }), 'two lamps and a chair are ordered');

  beforeAll(async () => {
    shop = await startRecordedShop();
    received = await receiveEvents(shop.services.database.urls.events, 'orders');
  });
  afterAll(async () => {
    await received?.close();
    await shop?.stop();
  });

  async function ordered(): Promise<Record<string, string>> {
    const account = newId();
    shop.catalogue.given('two lamps and a chair are on hand');
    const order = (await shop.order(account)).body.id;
    const { database } = shop.services.service('orders');
    const { rows } = await database.query('SELECT reservation_id AS id FROM orders WHERE id = $1', [order]);
    return { account, order, reservation: rows[0].id };
  }
  const states: ProviderStates = { [call.given]: ordered, [event.given]: ordered };

  /** Checks the recorded call against the real process, whose answer is changed on its way. */
  function check(change: (answer: TestAnswer) => object, recorded = call): Promise<string[]> {
    const { issuer, service } = shop.services;
    const { client } = service('orders');
    const changed = {
      ...client,
      async call(...request: Parameters<typeof client.call>) {
        const answer = await client.call(...request);
        return { ...answer, ...change(answer) };
      },
    };
    return checkCall(recorded, states, { issuer, client: changed });
  }

  it('a change of a service that keeps what consumers read is permitted', async () => {
    expect(await check(({ body }) => ({ body: { ...body, version: 2 } }))).toEqual([]);
    expect(await received.check(event, states)).toEqual([]);
  });

  it.each<[string, (answer: TestAnswer) => object]>([
    ['another status', () => ({ status: 202 })],
    ['a refusal', () => ({ status: 404 })],
    ['a member without a value', ({ body }) => ({ body: { ...body, orderId: null } })],
    ['a removed member', ({ body }) => ({ body: { state: body.state } })],
    ['a renamed member', ({ body: { orderId, ...rest } }) => ({ body: { ...rest, id: orderId } })],
    ['a member of another type', ({ body }) => ({ body: { ...body, orderId: { id: body.orderId } } })],
    ['the id of something else', ({ body }) => ({ body: { ...body, orderId: newId() } })],
    ['another value of a state', ({ body }) => ({ body: { ...body, state: 'found' } })],
    ['a list', ({ body }) => ({ body: [body] })],
    ['no body', () => ({ body: undefined })],
  ])('a change of a service to %s is found by its own tests', async (_change, change) => {
    expect(await check(change)).toHaveLength(1);
  });

  it.each<[string, object, string]>([
    ['without a member that the consumer reads', { gift: true }, '/gift'],
    ['with another value', { currency: 'CHF' }, '/currency'],
    ['with another type', { totalCost: '160.48' }, '/totalCost'],
    ['with fewer items', { items: [{ name: 'Desk lamp' }, { name: 'Chair' }, { name: 'Cup' }] }, '/items/2'],
    ['about another order', { orderId: '<account>' }, '/orderId'],
  ])('a change of a service that sends an event %s is found by its own tests', async (_change, difference, place) => {
    const changed = { ...event, data: { ...(event.data as object), ...difference } };
    expect(await received.check(changed, states, 1_000)).toEqual([expect.stringMatching(`^${place}: `)]);
  });

  it.each<[string, Partial<RecordedEvent>]>([
    ['of another type', { type: 'order.processing.v1' }],
    ['in the name of another service', { provider: 'accounts' }],
  ])('a change of a service that sends an event %s is found by its own tests', async (_change, difference) => {
    const changed = { ...event, ...difference };
    expect(await received.check(changed, states, 1_000)).toEqual([`catalogue receives no ${changed.type}`]);
  });

  it.each<[string, object]>([
    ['a renamed member', { reservation: '<reservation>', accountId: '<account>' }],
    ['a missing member', { reservationId: '<reservation>' }],
    ['an unknown member', { ...(call.body as object), urgent: true }],
    ['another type', { reservationId: 1, accountId: '<account>' }],
  ])('a change of a service is needed when a consumer records a request with %s', async (_change, body) => {
    expect(await check(() => ({}), { ...call, body })).toEqual([expect.stringContaining('the status is 400')]);
  });

  // This test is the last one, because every later check of an event would find the same event.
  it('a change of a service that sends an event against its schema is found by its own tests', async () => {
    const message = messageOf(event);
    const content = message.content.replace('"currency":"EUR"', '"currency":1');
    const transport = await connectTestTransport(shop.services.database.urls.events);
    await transport.publish([{ ...message, content }]);
    await transport.close();
    await expect(received.check(event, states)).rejects.toThrow('invalid order.created.v1');
  });
});

describe('a change of a consumer', () => {
  let orders: RecordedService;
  beforeEach(async () => {
    orders = await startRecordedService('catalogue', 'orders');
    orders.given('an order has the reservation');
  });
  afterEach(() => orders.close());

  const path = '/internal/reservations/settle';
  const body = { reservationId: newId(), accountId: newId() };
  const tokens = createServiceTokens({ secrets: [testSecret], name: 'catalogue' });

  async function sendText(to: string, text: string, headers: Record<string, string> = {}): Promise<number> {
    const Authorization = tokens.sign('orders', { method: 'POST', path: to, body: text });
    const fields = { Authorization, 'Content-Type': 'application/json', ...headers };
    const { status } = await fetch(`${orders.url}${to}`, { method: 'POST', headers: fields, body: text });
    return status;
  }
  const send = (to: string, content: object, headers?: Record<string, string>) =>
    sendText(to, JSON.stringify(content), headers);
  const refusals = () => orders.deviations().filter((deviation) => !deviation.endsWith('was not sent'));

  it('a change of a consumer that sends what is recorded is permitted', async () => {
    expect([await send(path, body), refusals()]).toEqual([200, []]);
  });

  it.each<[string, string, object]>([
    ['a renamed member', path, { reservation: body.reservationId, accountId: body.accountId }],
    ['a missing member', path, { reservationId: body.reservationId }],
    ['a further member', path, { ...body, urgent: true }],
    ['a member of another type', path, { ...body, accountId: 1 }],
    ['another path', '/internal/reservations/resolve', body],
    ['a query', `${path}?wait=1`, body],
  ])('a change of a consumer that sends %s is found by its own tests', async (_change, to, content) => {
    expect(await send(to, content)).toBe(500);
    expect(refusals()).toHaveLength(1);
  });

  it('a change of a consumer that sends no valid signature is found by its own tests', async () => {
    expect(await send(path, body, { Authorization: 'Bearer catalogue.nonsense' })).toBe(500);
    expect(refusals()).toEqual([`POST ${path} is not signed`]);
  });

  it.each([
    ['a text that is not JSON', '{', 'application/json'],
    ['another media type', JSON.stringify(body), 'text/plain'],
  ])('a change of a consumer that sends %s is found by its own tests', async (_change, text, type) => {
    expect(await sendText(path, text, { 'Content-Type': type })).toBe(500);
    expect(refusals()).toEqual([`POST ${path} has a body that is not JSON`]);
  });

  it('a change of a consumer that sends no access token is found by its own tests', async () => {
    expect((await fetch(`${orders.url}/v1/orders`)).status).toBe(500);
    expect(refusals()).toEqual(['GET /v1/orders has no credentials']);
  });

  it('a change of a consumer that no longer sends a recorded call is found by its own tests', async () => {
    await send(path, body);
    expect(orders.deviations()).toEqual([`POST ${path} given "no order has the reservation" was not sent`]);
  });
});
