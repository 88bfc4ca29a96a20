// What is published again: all that is kept of the wanted types, in batches.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { repeatEvents } from '../../src/events/repeat-events.ts';
import { startStore, type TestStore } from './service.ts';

let store: TestStore;

beforeAll(async () => {
  store = await startStore();
}, 60_000);
afterAll(() => store.close());

const published = (type: string, count: number, at: string) =>
  store.database.pool.query(
    `INSERT INTO outbox (id, type, subject, sequence, request_id, data, created_at, published_at)
     SELECT gen_random_uuid(), $1, 's', 1, 'r', '{}', now(), ${at} FROM generate_series(1, $2::int) AS n`,
    [type, count],
  );

it('repeats each event of the types that is kept, over several batches and moments with many events', async () => {
  await published('order.shipped.v1', 7_000, "now() - n * interval '30 seconds'");
  await published('order.shipped.v1', 6_000, "now() - interval '71 hours'");
  await published('order.created.v1', 7_000, "now() - n * interval '30 seconds'");
  await published('order.shipped.v1', 1, "now() - interval '73 hours'");
  await repeatEvents(store.database, ['order.shipped.v1']);
  const { rows } = await store.database.pool.query(
    'SELECT type, count(*)::int AS count FROM outbox WHERE published_at IS NULL GROUP BY type',
  );
  expect(rows).toEqual([{ type: 'order.shipped.v1', count: 13_000 }]);
});
