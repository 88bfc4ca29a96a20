// Republishing: all stored events of the requested types are published again, in batches.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { republishEvents } from '../../../src/events/republish-events.ts';
import { eventually, lockWaits } from '../../../src/testing/index.ts';
import { eventType, startStore, type TestStore } from '../service.ts';

let store: TestStore;
const threeDaysAgo = () => new Date(Date.now() - 72 * 3_600_000).toISOString();

beforeEach(async () => {
  store = await startStore();
});
afterEach(() => store.close());

it('republishEvents repeats each event of the types since a time, over several batches and moments with many events', async () => {
  await store.published(3_000);
  await store.published(5_000, eventType, "now() - interval '71 hours'");
  await store.published(3_000, 'order.created.v1');
  await store.published(1, eventType, "now() - interval '73 hours'");
  expect(await republishEvents(store.database.pool, [eventType], threeDaysAgo())).toBe(8_000);
  const { rows } = await store.database.pool.query(
    'SELECT type, count(*)::int AS count FROM outbox WHERE published_at IS NULL GROUP BY type',
  );
  expect(rows).toEqual([{ type: eventType, count: 8_000 }]);
});

it('republishEvents repeats an event that another transaction changes meanwhile, such as the erasure of an account', async () => {
  await store.published(3);
  const other = await store.database.pool.connect();
  try {
    await other.query('BEGIN');
    await other.query('UPDATE outbox SET data = data WHERE id = (SELECT id FROM outbox LIMIT 1)');
    const repeated = republishEvents(store.database.pool, [eventType], threeDaysAgo());
    await Promise.race([
      repeated,
      eventually(async () => expect(await lockWaits(store.database.pool)).toBeGreaterThan(0)),
    ]);
    await other.query('COMMIT');
    await repeated;
  } finally {
    other.release();
  }
  expect(await store.unpublished()).toHaveLength(3);
});

it('republishEvents makes at most a fixed number of events due in a second, oldest first', async () => {
  await store.published(5_000);
  await republishEvents(store.database.pool, [eventType], threeDaysAgo());
  const { rows } = await store.database.pool.query<{ count: number; newest: Date }>(
    `SELECT count(*)::int AS count, max(created_at) AS newest FROM outbox WHERE published_at IS NULL
     GROUP BY next_attempt_at ORDER BY next_attempt_at`,
  );
  expect(rows.map(({ count }) => count)).toEqual([2_000, 2_000, 1_000]);
  expect(rows).toEqual([...rows].sort((left, right) => left.newest.getTime() - right.newest.getTime()));
});
