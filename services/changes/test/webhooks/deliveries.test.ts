// Replays, and why a webhook got a change or not, on a real process. Nothing is sent here: the tests write what the sender would.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { eventsOfOrder } from '../published-events.ts';
import { type Owner, startWebhookShop, type WebhookShop } from './webhook-shop.ts';

let shop: WebhookShop;
beforeAll(async () => {
  shop = await startWebhookShop();
});
afterAll(() => shop?.stop());

interface Placed {
  readonly id: string;
  readonly position: number;
  readonly subject: string;
}

/** Publishes the four changes of an order, and returns them when the feed has them. */
async function placeOrder(accountId: string): Promise<Placed[]> {
  const events = eventsOfOrder(accountId);
  await shop.publisher.publish(events);
  const rows = async () =>
    (await shop.query(
      'SELECT event_id AS id, position::int AS position, subject FROM changes WHERE subject = $1 ORDER BY position',
      [events[0]?.subject],
    )) as unknown as Placed[];
  await eventually(async () => expect(await rows()).toHaveLength(4));
  return rows();
}

interface Delivery {
  readonly webhookId: string;
  readonly status: string;
  readonly state: string;
  readonly nextAttemptAt?: string;
  readonly attempts: readonly object[];
}

async function deliveries(owner: Owner, changeId: string): Promise<Delivery[]> {
  const { status, body } = await shop.call(owner, 'GET', `/v1/changes/${changeId}/deliveries`);
  expect(status).toBe(200);
  return body.items as unknown as Delivery[];
}

const stateOf = async (owner: Owner, changeId: string) => (await deliveries(owner, changeId)).map(({ state }) => state);

const moveTo = (id: string, position: number) =>
  shop.query('UPDATE webhooks SET position = $2 WHERE id = $1', [id, position]);

const attempt = (webhookId: string, messageId: string, error: string | null) =>
  shop.query(
    `INSERT INTO delivery_attempts (id, webhook_id, kind, message_id, started_at, duration_ms, status, error)
     VALUES ($1, $2, 'change', $3, now(), 5, $4, $5)`,
    [newId(), webhookId, messageId, error === null ? 200 : 500, error],
  );

describe('why a webhook got a change or not', () => {
  let owner: Owner;
  let id: string;
  let changes: Placed[];
  const at = (index: number): Placed => {
    const change = changes[index];
    if (change === undefined) throw new Error('the order has four changes');
    return change;
  };
  beforeEach(async () => {
    owner = await shop.owner();
    id = (await shop.add(owner)).body.id;
    changes = await placeOrder(owner.accountId);
  });

  it('a change waits until the webhook has reached it, also while the webhook is paused', async () => {
    await shop.call(owner, 'PATCH', `/v1/webhooks/${id}`, { body: { status: 'paused' } });
    expect(await deliveries(owner, at(0).id)).toEqual([
      {
        ...{ webhookId: id, url: 'https://warehouse.example/shop', status: 'paused', state: 'waiting' },
        ...{ nextAttemptAt: expect.any(String), attempts: [] },
      },
    ]);
  });

  it('a change is delivered by the attempt without an error, and all attempts are shown', async () => {
    await moveTo(id, at(3).position);
    await attempt(id, at(0).id, 'the endpoint answered 500');
    await attempt(id, at(0).id, null);
    const [delivery] = await deliveries(owner, at(0).id);
    expect(delivery).toMatchObject({ state: 'delivered' });
    expect(delivery?.attempts).toMatchObject([{ status: 500, error: 'the endpoint answered 500' }, { status: 200 }]);
  });

  it('a change that failed is parked, and so are the later ones of its subject, but not the earlier ones', async () => {
    await moveTo(id, at(3).position);
    await attempt(id, at(0).id, null);
    await attempt(id, at(1).id, 'no response within 15 s');
    await shop.query(
      `INSERT INTO parked_subjects (webhook_id, source, subject, position, failures, failing_since, next_attempt_at)
       VALUES ($1, '/orders', $2, $3, 1, now(), '2030-01-01T00:00:00Z')`,
      [id, at(1).subject, at(1).position],
    );
    const states = await Promise.all(changes.map((change) => stateOf(owner, change.id)));
    expect(states.flat()).toEqual(['delivered', 'parked', 'parked', 'parked']);
    expect(await deliveries(owner, at(2).id)).toMatchObject([{ nextAttemptAt: '2030-01-01T00:00:00.000Z' }]);
  });

  it('a change that failed for 3 days is given up', async () => {
    await moveTo(id, at(3).position);
    await attempt(id, at(0).id, 'given up after 3 days');
    expect(await stateOf(owner, at(0).id)).toEqual(['given-up']);
  });

  it('a passed change without an attempt was collapsed if the webhook collapses changes', async () => {
    await moveTo(id, at(3).position);
    expect(await stateOf(owner, at(0).id)).toEqual(['not-followed']);
    await shop.call(owner, 'PATCH', `/v1/webhooks/${id}`, { body: { collapse: true } });
    expect(await stateOf(owner, at(0).id)).toEqual(['collapsed']);
  });

  it('each webhook of the owner has its own reason: another type, or a later beginning', async () => {
    await shop.add(owner, { types: ['product'] });
    await shop.add(owner);
    expect(await stateOf(owner, at(0).id)).toEqual(['waiting', 'not-followed', 'too-old']);
  });

  it('a change of another account is only explained to staff that sees it, and webhooks without the scope do not', async () => {
    const staff = await shop.owner(['webhooks:write']);
    const added = (await shop.add(staff)).body.id;
    const [first] = await placeOrder(newId());
    const path = `/v1/changes/${first?.id}/deliveries`;
    expect((await shop.call(staff, 'GET', path)).status).toBe(404);
    const token = await shop.services.issuer.sign({
      accountId: staff.accountId,
      scopes: ['webhooks:write', 'orders:read-all'],
    });
    const wider = { ...staff, token };
    expect(await stateOf(wider, first?.id ?? '')).toEqual(['not-visible']);
    await shop.call(wider, 'PATCH', `/v1/webhooks/${added}`, { body: {} });
    expect(await stateOf(wider, first?.id ?? '')).toEqual(['waiting']);
  });

  it('an event that the feed does not have is not found', async () => {
    const path = `/v1/changes/${newId()}/deliveries`;
    expect((await shop.call(owner, 'GET', path)).body.code).toBe('not-found');
    expect((await shop.call(owner, 'GET', '/v1/changes/none/deliveries')).status).toBe(404);
  });
});

describe('a replay', () => {
  // The changes of the tests before are older than the times of the replays.
  beforeEach(() => shop.query("UPDATE changes SET placed_at = now() - interval '2 hours'"));
  const replay = (owner: Owner, id: string, from: string) =>
    shop.call(owner, 'POST', `/v1/webhooks/${id}/replay`, { body: { from } });
  const positionOf = async (id: string): Promise<unknown> =>
    (await shop.query('SELECT position::int AS position FROM webhooks WHERE id = $1', [id]))[0]?.position;
  /** Gives each change a time of its own. */
  const placedAt = (change: Placed | undefined, time: string) =>
    shop.query('UPDATE changes SET placed_at = $2::timestamptz WHERE event_id = $1', [change?.id, time]);
  const before = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

  it('a replay moves the webhook before the first change since the time, and never forward', async () => {
    const owner = await shop.owner();
    const { id } = (await shop.add(owner)).body;
    const [first, second, third, last] = await placeOrder(owner.accountId);
    const times = [before(40), before(30), before(20), before(10)];
    for (const [index, change] of [first, second, third, last].entries()) await placedAt(change, times[index] ?? '');
    await moveTo(id, last?.position ?? 0);
    expect((await replay(owner, id, before(25))).status).toBe(200);
    expect(await positionOf(id)).toBe(second?.position);
    expect(await stateOf(owner, third?.id ?? '')).toEqual(['waiting']);
    expect((await replay(owner, id, before(0))).status).toBe(200);
    expect(await positionOf(id)).toBe(second?.position);
    expect((await replay(owner, id, before(35))).status).toBe(200);
    expect(await positionOf(id)).toBe(first?.position);
  });

  it('a replay sends parked changes after the time in their order again, and keeps earlier ones parked', async () => {
    const owner = await shop.owner();
    const { id } = (await shop.add(owner)).body;
    const [early] = await placeOrder(owner.accountId);
    const [late] = await placeOrder(owner.accountId);
    await placedAt(early, before(30));
    await placedAt(late, before(10));
    await moveTo(id, (late?.position ?? 0) + 3);
    for (const { position, subject } of [early, late].flatMap((change) => change ?? [])) {
      await shop.query(
        `INSERT INTO parked_subjects (webhook_id, source, subject, position, failures, failing_since, next_attempt_at)
         VALUES ($1, '/orders', $2, $3, 1, now(), now())`,
        [id, subject, position],
      );
    }
    await replay(owner, id, before(20));
    const parked = await shop.query('SELECT subject FROM parked_subjects WHERE webhook_id = $1', [id]);
    expect(parked).toEqual([{ subject: early?.subject }]);
  });

  it('a replay from before the changes that are kept is refused, unless the feed still has all of its changes', async () => {
    const owner = await shop.owner();
    const { id } = (await shop.add(owner)).body;
    await placeOrder(owner.accountId);
    const weeks = new Date(Date.now() - 15 * 86_400_000).toISOString();
    const isWhole = (await shop.query('SELECT min(position)::int = 1 AS whole FROM changes'))[0]?.whole;
    expect(isWhole).toBe(true);
    expect((await replay(owner, id, weeks)).status).toBe(200);
    await shop.query('DELETE FROM changes WHERE position = 1');
    const { status, body } = await replay(owner, id, weeks);
    expect([status, body.code]).toEqual([410, 'cursor-expired']);
    expect((await replay(owner, id, before(6 * 24 * 60))).status).toBe(200);
  });

  it('a replay needs a time', async () => {
    const owner = await shop.owner();
    const { id } = (await shop.add(owner)).body;
    expect((await replay(owner, id, 'yesterday')).status).toBe(400);
    expect((await shop.call(owner, 'POST', `/v1/webhooks/${id}/replay`, { body: {} })).status).toBe(400);
  });
});
