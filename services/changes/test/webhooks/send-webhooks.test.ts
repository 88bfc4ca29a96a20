// Deliveries of a real process to real endpoints: order, retries, parking, and what each answer causes.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { Webhook } from 'standardwebhooks';
import type { Receiver } from './receiver.ts';
import { type SendingShop, startSendingShop } from './sending-shop.ts';

let shop: SendingShop;
beforeAll(async () => {
  shop = await startSendingShop();
});
afterAll(() => shop?.stop());

const sequences = (receiver: Receiver, subject: string): number[] =>
  receiver
    .changes()
    .filter(({ event }) => event.subject === subject)
    .map(({ event }) => Number(event.sequence));

const attemptsOf = async (id: string) => {
  const { rows } = await shop.services
    .service('changes')
    .database.query('SELECT * FROM delivery_attempts WHERE webhook_id = $1 ORDER BY id', [id]);
  return rows;
};

async function isPlaced(subject: string): Promise<boolean> {
  const { database } = shop.services.service('changes');
  return (await database.query('SELECT FROM changes WHERE subject = $1 AND position > 0', [subject])).rowCount === 1;
}

it('a new webhook gets a ping, and then the changes of each subject in their order, signed with its secret', async () => {
  const receiver = await shop.receiver();
  const { id, secret } = await shop.add(receiver.url);
  expect(receiver.requests).toMatchObject([{ event: { type: 'webhook.ping.v1', subject: id }, path: '/shop' }]);
  const [first = '', second = ''] = await shop.create(2);
  await Promise.all([shop.update(first, 2, 9), shop.update(second, 2, 9)]);
  await eventually(() => expect(receiver.changes()).toHaveLength(18));
  for (const subject of [first, second]) expect(sequences(receiver, subject)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  for (const { headers, body } of receiver.requests) {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    expect(headers['content-type']).toBe('application/cloudevents+json');
  }
  await eventually(async () =>
    expect((await attemptsOf(id)).map(({ kind, status }) => `${kind} ${status}`)).toEqual([
      'ping 204',
      ...Array(18).fill('change 204'),
    ]),
  );
});

it('a change that fails parks its subject and is sent again with the same id, while other subjects continue', async () => {
  const receiver = await shop.receiver();
  const { id } = await shop.add(receiver.url);
  const [bad = '', good = ''] = await shop.create(2);
  await eventually(() => expect(receiver.changes()).toHaveLength(2));
  receiver.answer(({ event }) => (event.subject === bad ? 500 : 204));
  await shop.update(bad, 2);
  await eventually(async () => expect(await shop.parkedOf(id)).toBe(1));
  await shop.update(bad, 3, 4);
  await shop.update(good, 2, 3);
  await eventually(() => expect(sequences(receiver, good)).toEqual([1, 2, 3]));
  expect(new Set(sequences(receiver, bad))).toEqual(new Set([1, 2]));
  receiver.answer();
  await eventually(async () => {
    await shop.hurry(id);
    expect(sequences(receiver, bad).slice(-2)).toEqual([3, 4]);
  });
  await eventually(async () => expect(await shop.parkedOf(id)).toBe(0));
  const tried = receiver.changes().filter(({ event }) => event.subject === bad && Number(event.sequence) === 2);
  expect(tried.length).toBeGreaterThan(1);
  expect(new Set(tried.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([tried[0]?.event.id]));
  expect(sequences(receiver, bad).filter((one) => one > 2)).toEqual([3, 4]);
});

it('a response with Retry-After stops all requests of the webhook until that time', async () => {
  const [receiver, other] = [await shop.receiver(), await shop.receiver()];
  const { id } = await shop.add(receiver.url);
  await shop.add(other.url);
  receiver.answer((_request, response) => {
    response.writeHead(429, { 'Retry-After': '3600' }).end();
    return undefined;
  });
  await shop.create(1);
  await eventually(async () => expect(await shop.stateOf(id)).toMatchObject({ status: 'active', waits: true }));
  const { rows } = await shop.services
    .service('changes')
    .database.query("SELECT next_attempt_at - now() > interval '59 minutes' AS late FROM webhooks WHERE id = $1", [id]);
  expect(rows).toEqual([{ late: true }]);
  receiver.answer();
  const sent = receiver.changes().length;
  const [later] = await shop.create(1);
  await eventually(() => expect(other.changes().at(-1)?.event.subject).toBe(later));
  expect(receiver.changes()).toHaveLength(sent);
  await shop.hurry(id);
  await eventually(() => expect(receiver.changes().map(({ event }) => event.subject)).toContain(later));
});

it('a response with 410 ends the webhook, and a ping makes it active again without a gap', async () => {
  const receiver = await shop.receiver();
  const { id, token } = await shop.add(receiver.url);
  receiver.answer(() => 410);
  const [product = ''] = await shop.create(1);
  await eventually(async () => expect((await shop.stateOf(id)).status).toBe('ended'));
  await shop.update(product, 2, 3);
  receiver.answer();
  const { client } = shop.services.service('changes');
  expect(await client.patch(`/v1/webhooks/${id}`, { token, body: { status: 'active' } })).toMatchObject({
    status: 200,
  });
  await eventually(() => expect(sequences(receiver, product)).toEqual([1, 1, 2, 3]));
});

it('a response that breaks before its end is a failure, and a long one is read no further than 1 KiB', async () => {
  const receiver = await shop.receiver();
  const { id } = await shop.add(receiver.url);
  receiver.answer((_request, response) => {
    response.writeHead(200, { 'Content-Length': '100' }).write('half');
    setImmediate(() => response.destroy());
    return undefined;
  });
  const [product = ''] = await shop.create(1);
  await eventually(async () => expect(await shop.parkedOf(id)).toBe(1));
  expect((await attemptsOf(id)).at(-1)).toMatchObject({ status: null, error: expect.stringMatching(/^No complete/) });
  receiver.answer((_request, response) => {
    response.writeHead(200).write('x'.repeat(100_000));
    return undefined;
  });
  await eventually(async () => {
    await shop.hurry(id);
    expect(await shop.parkedOf(id)).toBe(0);
  });
  expect((await attemptsOf(id)).at(-1)).toMatchObject({ status: 200, error: null, answer: 'x'.repeat(1_024) });
  expect(sequences(receiver, product).length).toBeGreaterThan(1);
});

it('an endpoint that never answers delays no other one, and fails after 15 s', async () => {
  const [silent, quick] = [await shop.receiver(), await shop.receiver()];
  const { id } = await shop.add(silent.url);
  await shop.add(quick.url);
  silent.answer(() => undefined);
  await shop.create(3);
  await eventually(() => expect(silent.changes()).toHaveLength(3));
  const [last] = await shop.create(1);
  await eventually(() => expect(quick.changes().at(-1)?.event.subject).toBe(last));
  expect(quick.changes()).toHaveLength(4);
  expect(await shop.stateOf(id)).toMatchObject({ failures: 0 });
  await eventually(async () => {
    const [, first] = await attemptsOf(id);
    expect(first).toMatchObject({ kind: 'change', error: 'No complete response within 15 s.' });
  }, 30_000);
});

it('after 5 failures in a row an endpoint gets one request at a time, and when it answers, all changes arrive', async () => {
  const receiver = await shop.receiver();
  const { id } = await shop.add(receiver.url);
  receiver.answer(() => 500);
  const products = await shop.create(150);
  await eventually(async () => expect((await shop.stateOf(id)).failures).toBeGreaterThanOrEqual(5));
  await eventually(async () => expect(await shop.stateOf(id)).toMatchObject({ waits: true }));
  const { failures } = await shop.stateOf(id);
  const sent = receiver.changes().length;
  expect(sent).toBeLessThan(20);
  await shop.hurry(id);
  await eventually(async () => expect((await shop.stateOf(id)).failures).toBe(failures + 1));
  expect(receiver.changes()).toHaveLength(sent + 1);
  receiver.answer();
  await shop.hurry(id);
  await eventually(() =>
    expect(new Set(receiver.changes().map(({ event }) => event.subject))).toEqual(new Set(products)),
  );
  await eventually(async () => expect(await shop.parkedOf(id)).toBe(0));
});

it('with 100 parked subjects the cursor waits, and goes on when they are delivered', async () => {
  const receiver = await shop.receiver();
  const { id } = await shop.add(receiver.url);
  const products: string[] = [];
  const isBad = (subject: string): boolean => products.indexOf(subject) % 3 === 0;
  receiver.answer(({ event }) => (isBad(event.subject) ? 500 : 204));
  for (let batch = 0; batch < 5; batch += 1) products.push(...(await shop.create(90)));
  await eventually(async () => {
    await shop.hurry(id);
    expect(await shop.parkedOf(id)).toBeGreaterThanOrEqual(100);
  }, 20_000);
  const { position } = await shop.stateOf(id);
  const [last = ''] = await shop.create(1);
  await eventually(async () => expect(await isPlaced(last)).toBe(true));
  const sent = receiver.requests.length;
  await shop.hurry(id);
  await eventually(() => expect(receiver.requests.length).toBeGreaterThanOrEqual(sent + 100));
  const missing = products.filter((one) => !receiver.changes().some(({ event }) => event.subject === one));
  expect(missing.length).toBeGreaterThan(0);
  expect(await shop.parkedOf(id)).toBeLessThan(200);
  expect(await shop.stateOf(id)).toMatchObject({ position });
  receiver.answer();
  await eventually(async () => {
    await shop.hurry(id);
    const got = new Set(receiver.changes().map(({ event }) => event.subject));
    expect([...products, last].filter((one) => !got.has(one))).toEqual([]);
  }, 20_000);
  await eventually(async () => expect(await shop.parkedOf(id)).toBe(0));
});
