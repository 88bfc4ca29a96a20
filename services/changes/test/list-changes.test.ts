// GET /v1/changes on a real process: order, visibility, cursors, waiting.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { eventually, startServices, type TestServices } from '@shop/shared/testing';
import type { components } from '../src/generated.ts';
import { type EventPublisher, eventsOfOrder, openPublisher, productEvent, type TestEvent } from './published-events.ts';

type Page = components['schemas']['ChangePage'];
type Change = Page['items'][number];

let services: TestServices;
let publisher: EventPublisher;
beforeAll(async () => {
  services = await startServices(['changes'], { shared: false });
  publisher = await openPublisher(services.database.urls.events);
});
afterAll(async () => {
  await publisher?.close();
  await services?.stop();
});

const staff = () => services.issuer.sign({ scopes: ['orders:read-all', 'accounts:support', 'catalogue:write'] });

async function page(query: string, token?: string): Promise<Page> {
  const answer = await services
    .service('changes')
    .client.get(`/v1/changes${query}`, token === undefined ? {} : { token });
  expect(answer.status).toBe(200);
  return answer.body as unknown as Page;
}

/** Reads to the end. */
async function changesAfter(cursor: string, { types = '', token = '' } = {}): Promise<Change[]> {
  const all: Change[] = [];
  for (let next = cursor; ; ) {
    const { items, nextCursor, hasMore } = await page(
      `?cursor=${next}${types && `&types=${types}`}&limit=7`,
      token || undefined,
    );
    all.push(...items);
    next = nextCursor;
    if (!hasMore) return all;
  }
}

const now = async (): Promise<string> => (await page('?cursor=now')).nextCursor;

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, at: Math.random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

it('events that arrive in any order, and several times, stand in the order of each subject once, without a gap', async () => {
  const cursor = await now();
  const token = await staff();
  const events = Array.from({ length: 30 }, () => eventsOfOrder(newId()))
    .flat()
    .map((event) => ({ ...event, id: newId() }));
  for (const part of [shuffled(events), shuffled(events).slice(0, 60)]) {
    await Promise.all([part.slice(0, 40), part.slice(40)].map((some) => publisher.publish(some)));
  }
  await eventually(async () => expect(await changesAfter(cursor, { token })).toHaveLength(events.length));
  const found = await changesAfter(cursor, { token });
  for (const of of Map.groupBy(found, ({ subject }) => subject).values()) {
    expect(of.map(({ sequence }) => Number(sequence))).toEqual([1, 3, 5, 7]);
    expect(of.map(({ previoussequence }) => previoussequence && Number(previoussequence))).toEqual([
      undefined,
      1,
      3,
      5,
    ]);
  }
  const { rows } = await services
    .service('changes')
    .database.query(
      'SELECT count(*)::int AS n, max(position)::int - min(position)::int + 1 AS span, (SELECT head::int FROM feed) - max(position)::int AS after FROM changes',
    );
  expect(rows).toEqual([{ n: rows[0].span, span: rows[0].span, after: 0 }]);
});

it('an event waits for its predecessor, and so do the events after it, but not those of other subjects', async () => {
  const cursor = await now();
  const token = await staff();
  const [first, ...later] = eventsOfOrder(newId()) as [TestEvent, ...TestEvent[]];
  const other = eventsOfOrder(newId()).slice(0, 1);
  await publisher.publish(later);
  await publisher.publish(other);
  await eventually(async () =>
    expect(await changesAfter(cursor, { token })).toMatchObject([{ subject: other[0]?.subject }]),
  );
  const held = 'SELECT FROM changes WHERE position IS NULL';
  await eventually(async () => expect((await services.service('changes').database.query(held)).rowCount).toBe(3));
  await publisher.publish([first]);
  await eventually(async () => expect(await changesAfter(cursor, { token })).toHaveLength(5));
  const types = (await changesAfter(cursor, { token })).slice(1).map(({ type }) => type);
  expect(types).toEqual(['order.created.v1', 'order.processing.v1', 'order.shipped.v1', 'order.delivered.v1']);
});

it('everybody sees changes of products, an account its own changes, and staff those that its scopes read', async () => {
  const cursor = await now();
  const [mine, others, product] = [newId(), newId(), newId()];
  await publisher.publish([
    ...eventsOfOrder(mine).slice(0, 1),
    ...eventsOfOrder(others).slice(0, 1),
    {
      type: 'account.registered.v1',
      subject: mine,
      sequence: 1,
      data: { accountId: mine, email: 'kim@example.com', name: 'Kim' },
    },
    productEvent(product, 1, { type: 'product.created.v1' }),
  ]);
  const sign = (claims: object) => services.issuer.sign({ accountId: newId(), ...claims });
  const kinds = async (token?: string, types?: string): Promise<string[]> =>
    (await changesAfter(cursor, { ...(token && { token }), ...(types && { types }) }))
      .map(({ resource }) => resource.split('/')[2] ?? '')
      .sort();
  await eventually(async () => expect(await kinds(await staff())).toHaveLength(4));
  expect(await kinds()).toEqual(['products']);
  expect(await kinds(await sign({ accountId: mine }))).toEqual(['accounts', 'orders', 'products']);
  expect(await kinds(await sign({}))).toEqual(['products']);
  expect(await kinds(await sign({ scopes: ['orders:fulfil'] }))).toEqual(['orders', 'orders', 'products']);
  expect(await kinds(await sign({ scopes: ['accounts:support'] }))).toEqual(['accounts', 'products']);
  expect(await kinds(await sign({ accountId: mine, scopes: ['orders:read-all'] }), 'order')).toEqual([
    'orders',
    'orders',
  ]);
  expect(JSON.stringify(await changesAfter(cursor, { token: await staff() }))).not.toMatch(/kim@|SECRET/);
});

it('a product that customers no longer see has one last change for them, without its data', async () => {
  const cursor = await now();
  const product = newId();
  await publisher.publish([
    productEvent(product, 1, { type: 'product.created.v1', status: 'pending', name: 'Hidden' }),
    productEvent(product, 2, { status: 'available' }),
    {
      type: 'stock.changed.v1',
      subject: product,
      sequence: 3,
      previousSequence: 2,
      data: { productId: product, inStock: false },
    },
    productEvent(product, 4, { status: 'pending', name: 'Hidden' }),
    productEvent(product, 5, { status: 'pending' }),
  ]);
  await eventually(async () => expect(await changesAfter(cursor, { token: await staff() })).toHaveLength(5));
  const seen = await changesAfter(cursor);
  expect(seen.map(({ sequence }) => Number(sequence))).toEqual([2, 3, 4]);
  expect(seen.map(({ data }) => data && Object.keys(data).length > 0)).toEqual([true, true, undefined]);
  expect(JSON.stringify(seen)).not.toContain('Hidden');
});

it('a request waits for the next change, and without one it gets an empty page with the same position', async () => {
  const token = await staff();
  const cursor = await now();
  const began = performance.now();
  const waiting = page(`?cursor=${cursor}&types=order&wait=20`, token);
  const empty = await page(`?cursor=${cursor}&wait=1`, token);
  expect(empty).toEqual({ items: [], nextCursor: cursor, hasMore: false });
  expect(performance.now() - began).toBeGreaterThanOrEqual(1_000);
  await publisher.publish([
    productEvent(newId(), 1, { type: 'product.created.v1' }),
    ...eventsOfOrder(newId()).slice(0, 1),
  ]);
  expect(await waiting).toMatchObject({ items: [{ type: 'order.created.v1' }] });
});

it('a page without a limit has 20 changes, as the contract says', async () => {
  const cursor = await now();
  await publisher.publish(Array.from({ length: 21 }, () => productEvent(newId(), 1, { type: 'product.created.v1' })));
  await eventually(async () => expect((await page(`?cursor=${cursor}&limit=100`)).items).toHaveLength(21));
  expect(await page(`?cursor=${cursor}`)).toMatchObject({ items: { length: 20 }, hasMore: true });
});

it('a cursor that the shop did not make is refused with 400, and one of an earlier epoch or of deleted changes with 410', async () => {
  const { client, database } = services.service('changes');
  const cursor = await now();
  await publisher.publish(eventsOfOrder(newId()));
  await eventually(async () => expect(await now()).not.toBe(cursor));
  expect(await client.get('/v1/changes?cursor=AAAA')).toMatchObject({ status: 400, body: { code: 'invalid-cursor' } });
  expect(await client.get('/v1/changes?types=order,basket')).toMatchObject({
    status: 400,
    body: { code: 'invalid-request' },
  });
  const expired = { status: 410, body: { code: 'cursor-expired' } };
  const { rows } = await database.query('DELETE FROM changes RETURNING event_id');
  expect(rows.length).toBeGreaterThan(0);
  // The changes of the last query may be in memory for a moment.
  await eventually(async () => expect(await client.get(`/v1/changes?cursor=${cursor}`)).toMatchObject(expired));
  const present = await now();
  expect(await client.get(`/v1/changes?cursor=${present}`)).toMatchObject({ status: 200, body: { items: [] } });
  await database.query('UPDATE feed SET epoch = gen_random_uuid()');
  expect(await client.get(`/v1/changes?cursor=${present}`)).toMatchObject(expired);
});
