// What moves a webhook besides its changes: replay, pause, reset, rotation, collapse, lost scopes, and long failures.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { Webhook } from 'standardwebhooks';
import { eventsOfOrder } from '../published-events.ts';
import type { Receiver } from './receiver.ts';
import { type ScopeSource, startScopeSource } from './scope-source.ts';
import { type SendingShop, startSendingShop } from './sending-shop.ts';

let shop: SendingShop;
let source: ScopeSource;
beforeAll(async () => {
  source = await startScopeSource();
  shop = await startSendingShop({ WEBHOOK_SCOPES: 'accounts', ACCOUNTS_URL: source.url });
});
afterAll(async () => {
  await shop?.stop();
  await source?.close();
});

const types = (receiver: Receiver): string[] => receiver.requests.map(({ event }) => event.type);
const subjects = (receiver: Receiver): string[] => receiver.changes().map(({ event }) => event.subject);
const database = () => shop.services.service('changes').database;
const client = () => shop.services.service('changes').client;

async function add(...[url, options = {}]: Parameters<SendingShop['add']>) {
  const { scopes = [], ownerId = crypto.randomUUID() } = options;
  source.grant(ownerId, ['webhooks:write', ...scopes]);
  return shop.add(url, { ...options, ownerId });
}

/** Moves the failures of a webhook and of its subjects into the past. */
async function age(id: string, hours: number): Promise<void> {
  for (const [table, column] of [
    ['webhooks', 'id'],
    ['parked_subjects', 'webhook_id'],
  ]) {
    await database().query(
      `UPDATE ${table} SET failing_since = now() - $2 * interval '1 hour', next_attempt_at = now() WHERE ${column} = $1`,
      [id, hours],
    );
  }
}

const stagesOf = async (id: string): Promise<string[]> => {
  const { rows } = await database().query(
    "SELECT data ->> 'stage' AS stage FROM outbox WHERE type = 'webhook.failing.v1' AND subject = $1 ORDER BY id",
    [id],
  );
  return rows.map(({ stage }) => stage);
};

const isPingDue = async (id: string): Promise<boolean> => {
  const { rows } = await database().query('SELECT is_ping_due AS due FROM webhooks WHERE id = $1', [id]);
  return rows[0].due;
};

it('a replay sends the changes since a time again, with the same ids and in the same order', async () => {
  const receiver = await shop.receiver();
  const { id, token } = await add(receiver.url);
  const from = new Date().toISOString();
  const [product = ''] = await shop.create(1);
  await shop.update(product, 2, 5);
  await eventually(() => expect(receiver.changes()).toHaveLength(5));
  const first = receiver.changes().map(({ headers }) => headers['webhook-id']);
  expect(await client().post(`/v1/webhooks/${id}/replay`, { token, body: { from } })).toMatchObject({ status: 200 });
  await eventually(() => expect(receiver.changes()).toHaveLength(10), 15_000);
  expect(receiver.changes().map(({ headers }) => headers['webhook-id'])).toEqual([...first, ...first]);
});

it('a replay is not lost when it arrives while the change that it repeats is being sent', async () => {
  const receiver = await shop.receiver();
  const { id, token } = await add(receiver.url);
  const { promise: isReplayed, resolve: release } = Promise.withResolvers<void>();
  receiver.answer((_request, response) => {
    void isReplayed.then(() => response.writeHead(204).end());
    return undefined;
  });
  const from = new Date().toISOString();
  await shop.create(1);
  await eventually(() => expect(receiver.changes()).toHaveLength(1));
  expect(await client().post(`/v1/webhooks/${id}/replay`, { token, body: { from } })).toMatchObject({ status: 200 });
  release();
  await eventually(() => expect(receiver.changes()).toHaveLength(2), 15_000);
});

it('a paused webhook gets nothing, and afterwards everything since', async () => {
  const [receiver, other] = [await shop.receiver(), await shop.receiver()];
  const { id, token } = await add(receiver.url);
  await add(other.url);
  await client().patch(`/v1/webhooks/${id}`, { token, body: { status: 'paused' } });
  const [product = ''] = await shop.create(1);
  await shop.update(product, 2);
  await eventually(() => expect(other.changes()).toHaveLength(2));
  expect(receiver.changes()).toEqual([]);
  await client().patch(`/v1/webhooks/${id}`, { token, body: { status: 'active' } });
  await eventually(() =>
    expect(types(receiver)).toEqual([...Array(2).fill('webhook.ping.v1'), 'product.created.v1', 'product.updated.v1']),
  );
});

it('a webhook that collapses gets only the newest of the changes of a subject that wait', async () => {
  const receiver = await shop.receiver();
  const { id, token } = await add(receiver.url, { collapse: true });
  await client().patch(`/v1/webhooks/${id}`, { token, body: { status: 'paused' } });
  const { nextCursor } = (await client().get('/v1/changes?cursor=now')).body;
  const [one = '', two = ''] = await shop.create(2);
  await shop.update(one, 2, 6);
  // The feed reads new changes every 50 ms, so the process may know a part of them only.
  await eventually(async () => {
    const { body } = await client().get(`/v1/changes?cursor=${nextCursor}&types=product&limit=100`);
    const items = body.items ?? [];
    expect(items.filter(({ subject }) => subject === one)).toHaveLength(6);
  });
  await client().patch(`/v1/webhooks/${id}`, { token, body: { status: 'active' } });
  await eventually(() => expect(receiver.changes()).toHaveLength(2));
  const got = Object.fromEntries(receiver.changes().map(({ event }) => [event.subject, Number(event.sequence)]));
  expect(got).toEqual({ [one]: 6, [two]: 1 });
});

it('a webhook whose changes are no longer kept gets a reset, with the same id over retries, and continues', async () => {
  const receiver = await shop.receiver();
  const { id } = await add(receiver.url);
  await shop.create(1);
  await eventually(() => expect(receiver.changes()).toHaveLength(1));
  receiver.answer(() => 500);
  await database().query('UPDATE feed SET epoch = gen_random_uuid()');
  await eventually(() => expect(types(receiver).at(-1)).toBe('webhook.reset.v1'));
  await eventually(async () => expect(await shop.stateOf(id)).toMatchObject({ waits: true }));
  receiver.answer();
  await eventually(async () => {
    await shop.hurry(id);
    const { rows } = await database().query(
      'SELECT w.epoch LIKE f.epoch || $2 AS same FROM webhooks w, feed f WHERE id = $1',
      [id, '%'],
    );
    expect(rows).toEqual([{ same: true }]);
  });
  const resets = receiver.requests.filter(({ event }) => event.type === 'webhook.reset.v1');
  expect(resets.length).toBeGreaterThan(1);
  expect(new Set(resets.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  const [product] = await shop.create(1);
  await eventually(() => expect(subjects(receiver).at(-1)).toBe(product));
});

it('after a rotation requests are verified by both secrets', async () => {
  const receiver = await shop.receiver();
  const { id, token, secret } = await add(receiver.url);
  const rotated = await client().post(`/v1/webhooks/${id}/rotate`, { token });
  await shop.create(1);
  await eventually(() => expect(receiver.changes()).toHaveLength(1));
  const [request] = receiver.changes();
  for (const one of [secret, (rotated.body as { secret?: string } | undefined)?.secret ?? '']) {
    new Webhook(one).verify(request?.body ?? '', request?.headers as Record<string, string>);
  }
});

it('an owner that loses a scope gets no further change of its type, and without webhooks:write nothing', async () => {
  const [receiver, other] = [await shop.receiver(), await shop.receiver()];
  const { ownerId } = await add(receiver.url, { types: ['product', 'order'], scopes: ['orders:read-all'] });
  await add(other.url, { types: ['product', 'order'], scopes: ['orders:read-all'] });
  const order = () => shop.publisher.publish(eventsOfOrder(crypto.randomUUID()).slice(0, 1));
  await order();
  await eventually(() => expect(types(receiver)).toEqual(['webhook.ping.v1', 'order.created.v1']));
  source.grant(ownerId, ['webhooks:write']);
  await source.untilOld();
  await order();
  await shop.create(1);
  await eventually(() => expect(other.changes()).toHaveLength(3));
  await eventually(() => expect(receiver.changes()).toHaveLength(2));
  expect(types(receiver).slice(1)).toEqual(['order.created.v1', 'product.created.v1']);
  source.grant(ownerId, []);
  await source.untilOld();
  await shop.create(1);
  await eventually(() => expect(other.changes()).toHaveLength(4));
  expect(receiver.changes()).toHaveLength(2);
});

it('nothing is sent while accounts does not answer, and everything afterwards', async () => {
  const receiver = await shop.receiver();
  await add(receiver.url);
  source.isDown = true;
  await source.untilOld();
  await shop.create(1);
  await eventually(() => expect(shop.services.service('changes').output()).toContain('a webhook waits'));
  expect(receiver.changes()).toEqual([]);
  source.isDown = false;
  await eventually(() => expect(receiver.changes()).toHaveLength(1), 10_000);
});

it('the owner of a failing webhook gets a notice after 1, 24 and 72 hours, and the webhook is suspended until its endpoint answers a ping', async () => {
  const receiver = await shop.receiver();
  const { id } = await add(receiver.url);
  receiver.answer(() => 503);
  const [product = ''] = await shop.create(1);
  await eventually(async () => expect(await shop.parkedOf(id)).toBe(1));
  for (const [hours, stages] of [
    [2, ['failing-1-hour']],
    [30, ['failing-1-hour', 'failing-24-hours']],
    [73, ['failing-1-hour', 'failing-24-hours', 'suspended']],
  ] as const) {
    await eventually(async () => {
      // An attempt in progress stores the times that it began with.
      if ((await stagesOf(id)).length < stages.length) await age(id, hours);
      expect(await stagesOf(id)).toEqual(stages);
    });
  }
  await eventually(async () => expect(await shop.stateOf(id)).toMatchObject({ status: 'suspended', waits: true }));
  const { rows } = await database().query(
    "SELECT next_attempt_at - now() > interval '58 minutes' AS hourly FROM webhooks WHERE id = $1",
    [id],
  );
  expect(rows).toEqual([{ hourly: true }]);
  const sent = receiver.changes().length;
  await shop.hurry(id);
  await eventually(() => expect(types(receiver).at(-1)).toBe('webhook.ping.v1'));
  expect(receiver.changes()).toHaveLength(sent);
  receiver.answer();
  await eventually(async () => {
    await shop.hurry(id);
    expect(await shop.stateOf(id)).toMatchObject({ status: 'active', failures: 0 });
  });
  await eventually(() => expect(subjects(receiver).at(-1)).toBe(product));
  await eventually(async () => expect(await shop.parkedOf(id)).toBe(0));
});

it('an endpoint that answers no ping for 3 days gets none any more, until its owner tests or continues the webhook', async () => {
  const [receiver, other] = [await shop.receiver(), await shop.receiver()];
  receiver.answer(() => 500);
  const { id, token } = await add(receiver.url, { isPinged: false });
  await eventually(async () => expect(await shop.stateOf(id)).toMatchObject({ waits: true }));
  await eventually(async () => {
    if ((await stagesOf(id)).length === 0) await age(id, 73);
    expect(await stagesOf(id)).toEqual(['unanswered']);
  });
  const pings = receiver.requests.length;
  await shop.hurry(id);
  // The passes of the other webhook show that the sender has looked for due ones.
  await add(other.url);
  await shop.create(1);
  await eventually(() => expect(other.changes()).toHaveLength(1));
  expect(receiver.requests).toHaveLength(pings);
  expect((await client().get(`/v1/webhooks/${id}`, { token })).body).toMatchObject({
    status: 'unverified',
    failingSince: expect.any(String),
  });

  expect(await client().post(`/v1/webhooks/${id}/test`, { token })).toMatchObject({ status: 202 });
  await eventually(() => expect(receiver.requests).toHaveLength(pings + 1));
  await eventually(async () => expect(await isPingDue(id)).toBe(false));
  await client().patch(`/v1/webhooks/${id}`, { token, body: { status: 'active' } });
  await eventually(() => expect(receiver.requests.length).toBeGreaterThan(pings + 1));
  await eventually(async () => expect((await shop.stateOf(id)).failures).toBeGreaterThan(0));
  expect(await isPingDue(id)).toBe(true);
  receiver.answer();
  await eventually(async () => {
    await shop.hurry(id);
    expect(await shop.stateOf(id)).toMatchObject({ status: 'active' });
  });
  await eventually(() => expect(receiver.changes()).toHaveLength(1));
});

it('a change that failed for 3 days while others succeed is given up, and the next change of its subject is sent', async () => {
  const receiver = await shop.receiver();
  const { id } = await add(receiver.url);
  receiver.answer(({ event }) => (event.sequence === '0000000001' ? 500 : 204));
  const [product = ''] = await shop.create(1);
  await eventually(async () => expect(await shop.parkedOf(id)).toBe(1));
  await shop.update(product, 2);
  await eventually(async () => {
    await database().query(
      "UPDATE parked_subjects SET failing_since = now() - interval '73 hours', next_attempt_at = now() WHERE webhook_id = $1",
      [id],
    );
    expect(receiver.changes().at(-1)?.event).toMatchObject({ subject: product, sequence: '0000000002' });
  }, 15_000);
  await eventually(async () => expect(await shop.parkedOf(id)).toBe(0));
  const { rows } = await database().query(
    'SELECT error FROM delivery_attempts WHERE webhook_id = $1 AND error IS NOT NULL ORDER BY id DESC LIMIT 1',
    [id],
  );
  expect(rows).toEqual([{ error: 'given up after 3 days: The endpoint answered 500.' }]);
});
