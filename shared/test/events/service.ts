// A service as the events tests need it: a database with outbox and inbox, and events to append.
import { connectDatabase, type Database } from '../../src/database/index.ts';
import { appendEvent } from '../../src/events/index.ts';
import { newId } from '../../src/runtime/index.ts';
import { createTestDatabase } from '../../src/testing/index.ts';
import { log } from './brokers.ts';

export interface TestStore {
  readonly url: string;
  readonly adminUrl: string;
  readonly database: Database;
  /** Appends one event in a transaction of its own and returns its id. */
  append(subject?: string): Promise<string>;
  /** Adds events that were published `at`, an expression over their number n. Default: half a minute between them. */
  published(count: number, type?: string, at?: string): Promise<void>;
  /** The ids of the unpublished events. */
  unpublished(): Promise<string[]>;
  close(): Promise<void>;
}

/** The event that `append` writes. */
export const eventType = 'order.shipped.v1';

export function shipped(subject = newId()) {
  return {
    type: eventType,
    subject,
    sequence: 3,
    requestId: 'request-1',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    data: { orderId: subject, accountId: subject, reservationId: subject },
  } as const;
}

export async function startStore(): Promise<TestStore> {
  const test = await createTestDatabase(['notifications']);
  const url = test.urls.notifications;
  const database = connectDatabase({ url, name: 'test', log });
  return {
    url,
    adminUrl: test.adminUrl,
    database,
    append: (subject) => database.transaction((tx) => appendEvent(tx, shipped(subject))),
    async published(count, type = eventType, at = "now() - n * interval '30 seconds'") {
      await database.pool.query(
        `INSERT INTO outbox (id, type, subject, sequence, request_id, data, created_at, published_at)
         SELECT gen_random_uuid(), $1, 's', 1, 'r', '{}', ${at}, ${at} FROM generate_series(1, $2::int) AS n`,
        [type, count],
      );
    },
    async unpublished() {
      const { rows } = await database.pool.query<{ id: string }>(
        'SELECT id FROM outbox WHERE published_at IS NULL ORDER BY id',
      );
      return rows.map(({ id }) => id);
    },
    async close() {
      await database.close();
      await test.drop();
    },
  };
}
