// The events stock.released.v1 and notification.sent.v1 change `cancellation` of an order, and the verification of an
// address changes what an e-mail waits for.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Transport } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import {
  type AnswerBody,
  connectTestTransport,
  eventually,
  startServices,
  type TestServices,
} from '@shop/shared/testing';

let services: TestServices;
let transport: Transport;

beforeAll(async () => {
  services = await startServices(['orders']);
  transport = await connectTestTransport(services.database.urls.events);
});
afterAll(async () => {
  await transport.close();
  await services.stop();
});

interface Order {
  readonly id: string;
  readonly accountId: string;
}

/** Inserts the rows of an order, pending or cancelled. */
async function order(status: 'pending' | 'cancelled' = 'cancelled'): Promise<Order> {
  const [id, accountId] = [newId(), newId()];
  await services.service('orders').database.query(
    `INSERT INTO orders (id, account_id, reservation_id, status, version, currency, total_minor,
       cancelled_at, stock_released, customer_notified)
     SELECT $1, $2, $3, $4, 2, 'EUR', 100,
       CASE WHEN c THEN now() END, CASE WHEN c THEN 'pending' END, CASE WHEN c THEN 'pending' END
     FROM (SELECT $4 = 'cancelled') AS given (c)`,
    [id, accountId, newId(), status],
  );
  return { id, accountId };
}

async function publish(order: Order, type: string, data: Record<string, unknown>): Promise<string> {
  const id = newId();
  const content = JSON.stringify({
    specversion: '1.0',
    id,
    source: '/tests',
    type,
    subject: order.id,
    time: new Date().toISOString(),
    sequence: '0000000002',
    requestid: 'test',
    data: { orderId: order.id, accountId: order.accountId, ...data },
  });
  await transport.publish([{ id, type, content }]);
  return id;
}

async function taken(eventId: string): Promise<boolean> {
  const { database } = services.service('orders');
  const { rows } = await database.query('SELECT 1 FROM inbox WHERE event_id = $1', [eventId]);
  return rows.length === 1;
}

async function send(order: Order, type: string, data: Record<string, unknown>): Promise<void> {
  const id = await publish(order, type, data);
  await eventually(async () => expect(await taken(id)).toBe(true));
}

const stock = (outcome: string, at: string) => ({ reservationId: newId(), outcome, releasedAt: at });
const mail = (kind: string, outcome: string, at: string) => ({ kind, outcome, sentAt: at });

async function shown({ id, accountId }: Order) {
  const token = await services.issuer.sign({ accountId, scopes: ['orders:read-all'] });
  const fields = 'cancellation,updatedAt';
  const { body } = await services.service('orders').client.get(`/v1/orders?fields=${fields}`, { token });
  const { database } = services.service('orders');
  const { rows } = await database.query('SELECT version::int FROM orders WHERE id = $1', [id]);
  return { ...(body.items[0] as AnswerBody).cancellation, version: rows[0].version };
}

/** Each `order.updated.v1` of the order: its version and that of the event before it. */
async function updates({ id }: Order): Promise<[number, number | null][]> {
  const { rows } = await services.service('orders').database.query(
    `SELECT sequence::int, previous_sequence::int AS previous, data FROM outbox
       WHERE subject = $1 AND type = 'order.updated.v1' ORDER BY sequence`,
    [id],
  );
  return rows.map(({ sequence, previous }) => [sequence, previous]);
}

const [early, late] = ['2026-11-21T03:00:00.000Z', '2026-11-21T03:00:01.000Z'];

it('the order shows both effects in the order with their times, each with a new version', async () => {
  const cancelled = await order();
  await send(cancelled, 'stock.released.v1', stock('done', early));
  expect(await shown(cancelled)).toMatchObject({
    stockReleased: { state: 'done', at: early },
    customerNotified: { state: 'pending' },
    version: 3,
  });
  await send(cancelled, 'notification.sent.v1', mail('order-cancelled', 'done', late));
  expect(await shown(cancelled)).toMatchObject({
    stockReleased: { state: 'done', at: early },
    customerNotified: { state: 'done', at: late },
    version: 4,
  });
  expect(await updates(cancelled)).toEqual([
    [3, null],
    [4, 3],
  ]);
});

it('the order shows a failure in the order, and the success after it', async () => {
  const cancelled = await order();
  await send(cancelled, 'stock.released.v1', stock('failed', early));
  await send(cancelled, 'notification.sent.v1', mail('order-cancelled', 'failed', early));
  expect(await shown(cancelled)).toMatchObject({
    stockReleased: { state: 'failed', at: early },
    customerNotified: { state: 'failed', at: early },
  });
  await send(cancelled, 'stock.released.v1', stock('done', late));
  await send(cancelled, 'notification.sent.v1', mail('order-cancelled', 'done', late));
  expect(await shown(cancelled)).toMatchObject({
    stockReleased: { state: 'done', at: late },
    customerNotified: { state: 'done', at: late },
  });
});

it('the order shows the first of several failures in the history, so that its entity tag stands for one content', async () => {
  const shortened = await order('pending');
  await services.service('orders').database.query(
    `INSERT INTO order_history (account_id, order_id, version, status, actor, actor_id, request_id, at,
       cancelled_lines, stock_released, customer_notified)
     VALUES ($1, $2, 2, 'pending', 'customer', $1, 'test', now(), $3, 'pending', 'pending')`,
    [shortened.accountId, shortened.id, JSON.stringify([{ productId: newId(), name: 'Cup', quantity: 1 }])],
  );
  const history = async () => {
    const token = await services.issuer.sign({ accountId: shortened.accountId });
    const { body, headers } = await services
      .service('orders')
      .client.get(`/v1/orders/${shortened.id}/history`, { token });
    return { ...(body.items[0] as AnswerBody), etag: headers.etag };
  };
  const notice = (outcome: string, at: string) => ({ ...mail('order-lines-cancelled', outcome, at), orderVersion: 2 });
  const release = (outcome: string, at: string) => ({ ...stock(outcome, at), orderVersion: 2 });
  await send(shortened, 'notification.sent.v1', notice('failed', early));
  await send(shortened, 'stock.lines-released.v1', release('failed', early));
  const before = await history();
  const failed = { state: 'failed', at: early };
  expect(before).toMatchObject({ stockReleased: failed, customerNotified: failed });
  await send(shortened, 'notification.sent.v1', notice('failed', late));
  await send(shortened, 'stock.lines-released.v1', release('failed', late));
  expect(await history()).toEqual(before);
  await send(shortened, 'notification.sent.v1', notice('done', late));
  await send(shortened, 'stock.lines-released.v1', release('done', late));
  const after = await history();
  const done = { state: 'done', at: late };
  expect(after).toMatchObject({ stockReleased: done, customerNotified: done });
  expect(after.etag).not.toBe(before.etag);
});

/** The event that an account was changed; the sequence is its version. */
async function account({ accountId }: Order, sequence: number, emailVerified: boolean): Promise<void> {
  const id = newId();
  const type = sequence === 1 ? 'account.registered.v1' : 'account.updated.v1';
  const content = JSON.stringify({
    specversion: '1.0',
    id,
    source: '/tests',
    type,
    subject: accountId,
    time: new Date().toISOString(),
    sequence: String(sequence).padStart(10, '0'),
    requestid: 'test',
    data: { accountId, name: 'Kim Park', email: 'kim@example.com', emailVerified },
  });
  await transport.publish([{ id, type, content }]);
  await eventually(async () => expect(await taken(id)).toBe(true));
}

const noticeOf = (shown: unknown): unknown => (shown as { readonly customerNotified?: unknown }).customerNotified;

it('an order says that the e-mail about its cancellation waits for the verification of the address', async () => {
  const cancelled = await order();
  await account(cancelled, 1, false);
  const waiting = { state: 'pending', waitingFor: 'email-verification' };
  expect(await shown(cancelled)).toMatchObject({ customerNotified: waiting, version: 2 });
  const token = await services.issuer.sign({ accountId: cancelled.accountId });
  const { body } = await services.service('orders').client.get('/v1/orders?fields=cancellation', { token });
  expect(body.items).toMatchObject([{ cancellation: { customerNotified: waiting } }]);
  await account(cancelled, 2, true);
  // The new version is a new entity tag.
  const verified = await shown(cancelled);
  expect([noticeOf(verified), verified.version]).toEqual([{ state: 'pending' }, 3]);
  await account(cancelled, 3, true);
  expect(await shown(cancelled)).toMatchObject({ version: 3 });
  await send(cancelled, 'notification.sent.v1', mail('order-cancelled', 'done', late));
  const done = await shown(cancelled);
  expect(done).toMatchObject({ version: 4 });
  expect(noticeOf(done)).toEqual({ state: 'done', at: late });
  expect(await updates(cancelled)).toEqual([
    [3, null],
    [4, 3],
  ]);
});

it('an order without a known account, or with a verified address, waits for nothing', async () => {
  const [unknown, verified] = [await order(), await order()];
  await account(verified, 1, true);
  expect(noticeOf(await shown(unknown))).toEqual({ state: 'pending' });
  expect(noticeOf(await shown(verified))).toEqual({ state: 'pending' });
});

it('the history says what the e-mail about cancelled units waits for, with another entity tag afterwards', async () => {
  const shortened = await order('pending');
  await services.service('orders').database.query(
    `INSERT INTO order_history (account_id, order_id, version, status, actor, actor_id, request_id, at,
       cancelled_lines, stock_released, customer_notified)
     VALUES ($1, $2, 2, 'pending', 'customer', $1, 'test', now(), $3, 'pending', 'pending')`,
    [shortened.accountId, shortened.id, JSON.stringify([{ productId: newId(), name: 'Cup', quantity: 1 }])],
  );
  await account(shortened, 1, false);
  const token = await services.issuer.sign({ accountId: shortened.accountId });
  const history = async () => services.service('orders').client.get(`/v1/orders/${shortened.id}/history`, { token });
  const before = await history();
  expect(noticeOf(before.body.items[0])).toEqual({ state: 'pending', waitingFor: 'email-verification' });
  await account(shortened, 2, true);
  const after = await history();
  expect(noticeOf(after.body.items[0])).toEqual({ state: 'pending' });
  expect(after.headers.etag).not.toBe(before.headers.etag);
});

it('a failure that arrives after the success changes nothing', async () => {
  const cancelled = await order();
  await send(cancelled, 'stock.released.v1', stock('done', late));
  await send(cancelled, 'notification.sent.v1', mail('order-cancelled', 'done', late));
  const before = await shown(cancelled);
  await send(cancelled, 'stock.released.v1', stock('failed', early));
  await send(cancelled, 'notification.sent.v1', mail('order-cancelled', 'failed', early));
  expect(await shown(cancelled)).toEqual(before);
});

it('other e-mails, and events about orders that are not cancelled, change nothing', async () => {
  const [cancelled, pending] = [await order(), await order('pending')];
  const kinds = ['order-received', 'order-refunded', 'a-kind-of-a-later-version'];
  const ignored = await Promise.all(
    kinds.map((kind) => publish(cancelled, 'notification.sent.v1', mail(kind, 'done', early))),
  );
  await send(pending, 'notification.sent.v1', mail('order-cancelled', 'done', early));
  await send(pending, 'stock.released.v1', stock('done', early));
  expect(await shown(cancelled)).toMatchObject({ customerNotified: { state: 'pending' }, version: 2 });
  expect(await shown(pending)).toEqual({ version: 2 });
  expect([await updates(cancelled), await updates(pending)]).toEqual([[], []]);
  expect(await Promise.all(ignored.map(taken))).toEqual(kinds.map(() => false));
  expect((await transport.deadLetters('orders.effects', 1)).map(({ reason }) => reason)).toEqual([]);
});

it("an event does not change another account's order with the same id", async () => {
  const cancelled = await order();
  await send({ ...cancelled, accountId: newId() }, 'stock.released.v1', stock('done', early));
  expect(await shown(cancelled)).toMatchObject({ stockReleased: { state: 'pending' }, version: 2 });
});
