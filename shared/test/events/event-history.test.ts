// The history of the events about one subject.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { withClient } from '../../src/database/index.ts';
import { eventHistory, toTraceStep } from '../../src/events/index.ts';
import { sortSteps } from '../../src/events/trace-step.ts';
import { newId } from '../../src/runtime/index.ts';
import { createTestDatabase, type TestDatabase } from '../../src/testing/index.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase(['orders']);
});
afterAll(() => database.drop());

const subject = newId();
const trace = 'a'.repeat(32);

it('eventHistory shows how each event was published or handled, after how many attempts, and why one waits', async () => {
  await withClient({ url: database.urls.orders }, async (client) => {
    await client.query(
      `INSERT INTO outbox (id, type, subject, sequence, request_id, traceparent, data,
         created_at, published_at, attempts, problem)
       SELECT gen_random_uuid(), type, $1, 1, 'request-1', traceparent, '{}',
         created_at, published_at, attempts, problem
       FROM (VALUES
         ('at-once', $2, timestamptz '2026-01-01 00:00:00Z', timestamptz '2026-01-01 00:00:00.012Z', 1, NULL),
         ('late', NULL, '2026-01-01 00:00:01Z', '2026-01-01 00:00:05Z', 3, NULL),
         ('new', NULL, '2026-01-01 00:00:02Z', NULL, 0, NULL),
         ('stuck', NULL, '2026-01-01 00:00:03Z', NULL, 2, 'no queue takes it')
       ) AS sent (type, traceparent, created_at, published_at, attempts, problem)`,
      [subject, `00-${trace}-${'b'.repeat(16)}-01`],
    );
    await client.query(
      `INSERT INTO inbox (consumer, event_id, type, subject, request_id, attempt, taken_at) VALUES
         ('orders.effects', gen_random_uuid(), 'once', $1, 'request-2', 1, '2026-01-01 00:00:04Z'),
         ('orders.effects', gen_random_uuid(), 'twice', $1, 'request-2', 2, '2026-01-01 00:00:05Z')`,
      [subject],
    );
    const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;
    expect(sortSteps(await eventHistory(client, subject)).map(toTraceStep)).toEqual([
      { kind: 'event', at: at(0), what: 'at-once published after 12 ms', requestId: 'request-1', traceId: trace },
      { kind: 'event', at: at(1), what: 'late published after 4000 ms, attempt 3', requestId: 'request-1' },
      { kind: 'event', at: at(2), what: 'new waits to be published', requestId: 'request-1' },
      {
        kind: 'event',
        at: at(3),
        what: 'stuck waits to be published, attempt 2: no queue takes it',
        requestId: 'request-1',
      },
      { kind: 'delivery', at: at(4), what: 'once taken by orders.effects', requestId: 'request-2' },
      { kind: 'delivery', at: at(5), what: 'twice taken by orders.effects, attempt 2', requestId: 'request-2' },
    ]);
    expect(await eventHistory(client, newId())).toEqual([]);
  });
});
