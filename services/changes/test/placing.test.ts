// The order of the feed while several consumers add events: a reader who goes on from its position misses none.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { connectDatabase, type Database } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';
import { createLog, newId } from '@shop/shared/runtime';
import { createTestDatabase, eventually, lockWaits, type TestDatabase } from '@shop/shared/testing';
import { addEvents } from '../src/feed/add-events.ts';
import { kinds } from '../src/feed/change.ts';
import { ChangeReader } from '../src/feed/change-reader.ts';
import type { FeedEventType } from '../src/feed/changed-resource.ts';
import type { FeedPosition } from '../src/feed/feed-cursors.ts';
import { eventsOfOrder, type TestEvent } from './published-events.ts';

type FeedEvent = ShopEvent<FeedEventType>;

let stored: TestDatabase;
let database: Database;
let reader: ChangeReader;
beforeAll(async () => {
  stored = await createTestDatabase(['changes']);
  const log = createLog('changes', 'silent');
  database = connectDatabase({ url: stored.urls.changes, name: 'changes', log, poolSize: 8 });
  // As the service does when it starts.
  await database.pool.query('INSERT INTO feed DEFAULT VALUES');
  reader = new ChangeReader(database, log);
});
afterAll(async () => {
  await reader?.close();
  await database?.close();
  await stored?.drop();
});

function toEvent(event: TestEvent, { id = newId(), time = new Date() } = {}): FeedEvent {
  const { previousSequence } = event;
  const common = { source: '/orders', time: time.toISOString(), requestId: 'request-of-test', traceparent: undefined };
  return { ...event, id, ...common, previousSequence } as FeedEvent;
}

const ordersOf = (count: number): FeedEvent[] =>
  Array.from({ length: count }, () => eventsOfOrder(newId()))
    .flat()
    .map((event) => toEvent(event));

/** Follows the feed from the present position. */
async function openFollower(): Promise<() => Promise<FeedEvent['id'][]>> {
  let after: FeedPosition = await reader.now();
  return async () => {
    const found: string[] = [];
    for (;;) {
      const page = await reader.read(after, { kinds, staffKinds: kinds, accountId: undefined }, 7);
      found.push(...page.changes.map(({ eventId }) => eventId));
      after = page.next;
      if (!page.hasMore) return found;
    }
  };
}

const add = (events: readonly FeedEvent[]): Promise<void> => database.transaction((tx) => addEvents(tx, events));

it('a reader misses no change of a consumer that commits after one that began later', async () => {
  const follow = await openFollower();
  const [first, second] = [ordersOf(1).slice(0, 1), ordersOf(1).slice(0, 1)];
  const { promise, resolve } = Promise.withResolvers<void>();
  let later: Promise<void> = Promise.resolve();
  let isCommitted = false;
  const seen: string[] = [];
  await database.transaction(async (tx) => {
    await addEvents(tx, first);
    later = add(second).finally(() => {
      isCommitted = true;
      resolve();
    });
    await eventually(async () => {
      if (!isCommitted) expect(await lockWaits(database.pool)).toBe(1);
    });
    seen.push(...(await follow()));
  });
  await promise;
  await later;
  seen.push(...(await follow()));
  expect(seen).toEqual([...first, ...second].map(({ id }) => id));
});

it('a reader sees a change that arrives late, though its id and its time are those of an earlier one', async () => {
  const follow = await openFollower();
  const early = ordersOf(1).slice(0, 1);
  const late = ordersOf(1).slice(0, 1);
  await add(late);
  expect(await follow()).toEqual(late.map(({ id }) => id));
  await add(early.map((event) => ({ ...event, time: new Date(Date.now() - 60_000).toISOString() })));
  expect(await follow()).toEqual(early.map(({ id }) => id));
});

it('a reader sees each change of consumers at the same time once, in the order of each subject', async () => {
  const follow = await openFollower();
  const events = ordersOf(100);
  const byId = new Map(events.map((event) => [event.id, event]));
  // Events overtake each other, and some are delivered twice.
  const deliveries = [...events, ...events.slice(0, 100)]
    .map((event) => ({ event, at: Math.random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ event }) => event);
  const parts = Array.from({ length: 25 }, (_, index) => deliveries.slice(index * 20, (index + 1) * 20));
  const consume = async (): Promise<void> => {
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) await add(part);
  };
  let isOver = false;
  const consumers = Promise.all([consume(), consume(), consume(), consume()]).finally(() => {
    isOver = true;
  });
  const seen: string[] = [];
  while (!isOver) seen.push(...(await follow()));
  await consumers;
  seen.push(...(await follow()));
  expect([...seen].sort()).toEqual(events.map(({ id }) => id).sort());
  const sequences = Map.groupBy(seen, (id) => byId.get(id)?.subject);
  for (const ids of sequences.values()) expect(ids.map((id) => byId.get(id)?.sequence)).toEqual([1, 3, 5, 7]);
});
