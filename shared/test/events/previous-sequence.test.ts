// The outbox stores with each event the sequence of the event before it of the same subject, whatever adds the event.
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { connectDatabase, type Database } from '../../src/database/index.ts';
import { appendEvents } from '../../src/events/index.ts';
import { newId } from '../../src/runtime/index.ts';
import { createTestDatabase } from '../../src/testing/index.ts';
import { log } from './brokers.ts';

const services = ['accounts', 'catalogue', 'orders'] as const;
let test: Awaited<ReturnType<typeof createTestDatabase>>;
let databases: Readonly<Record<(typeof services)[number], Database>>;
let subject: string;

beforeAll(async () => {
  test = await createTestDatabase(services);
  const connect = (service: (typeof services)[number]) =>
    connectDatabase({ url: test.urls[service], name: 'test', log });
  databases = { accounts: connect('accounts'), catalogue: connect('catalogue'), orders: connect('orders') };
});
beforeEach(() => {
  subject = newId();
});
afterAll(async () => {
  await Promise.all(Object.values(databases ?? {}).map((database) => database.close()));
  await test?.drop();
});

/** Appends events about the order in one statement of one transaction. */
function append(...sequences: number[]): Promise<string[]> {
  const data = { orderId: subject, accountId: subject, reservationId: subject };
  const events = sequences.map((sequence) => {
    return { type: 'order.processing.v1', subject, sequence, requestId: 'r', data } as const;
  });
  return databases.orders.transaction((tx) => appendEvents(tx, events));
}

/** Adds an event as a process of the previous release does. */
async function insert(service: (typeof services)[number], type: string, sequence: number): Promise<void> {
  await databases[service].pool.query(
    `INSERT INTO outbox (id, type, subject, sequence, request_id, traceparent, data)
     SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::json[])`,
    [[newId()], [type], [subject], [sequence], ['r'], [null], ['{}']],
  );
}

/** Returns the sequence and the previous sequence of each event of the subject, in the order in which they were added. */
async function stored(service: (typeof services)[number] = 'orders'): Promise<[number, number | null][]> {
  const { rows } = await databases[service].pool.query<{ sequence: number; previous: number | null }>(
    'SELECT sequence::int, previous_sequence::int AS previous FROM outbox WHERE subject = $1 ORDER BY id',
    [subject],
  );
  return rows.map(({ sequence, previous }) => [sequence, previous]);
}

it('the first event of a subject has no predecessor, and each later one names the event before it', async () => {
  await append(1);
  await append(3, 4);
  await append(9);
  expect(await stored()).toEqual([
    [1, null],
    [3, 1],
    [4, 3],
    [9, 4],
  ]);
});

it('an event names a predecessor whose row the outbox no longer has', async () => {
  await append(1);
  await databases.orders.pool.query('DELETE FROM outbox WHERE subject = $1', [subject]);
  await append(2);
  expect(await stored()).toEqual([[2, 1]]);
});

it('an event names no predecessor whose transaction was rolled back', async () => {
  await append(1);
  await expect(
    databases.orders.transaction(async (tx) => {
      const data = { orderId: subject, accountId: subject, reservationId: subject };
      await appendEvents(tx, [{ type: 'order.processing.v1', subject, sequence: 2, requestId: 'r', data }]);
      throw new Error('changed its mind');
    }),
  ).rejects.toThrow('changed its mind');
  await append(3);
  expect(await stored()).toEqual([
    [1, null],
    [3, 1],
  ]);
});

it('events that processes of the previous release add have a predecessor, and are one', async () => {
  await append(1);
  await insert('orders', 'order.processing.v1', 2);
  await append(3);
  expect(await stored()).toEqual([
    [1, null],
    [2, 1],
    [3, 2],
  ]);
});

it('concurrent changes of one subject form one chain', async () => {
  await databases.orders.pool.query('CREATE TABLE IF NOT EXISTS counters (id uuid PRIMARY KEY, version int NOT NULL)');
  await databases.orders.pool.query('INSERT INTO counters VALUES ($1, 0)', [subject]);
  const data = { orderId: subject, accountId: subject, reservationId: subject };
  await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      databases.orders.transaction(async (tx) => {
        const { rows } = await tx.connection.query<{ version: number }>(
          'UPDATE counters SET version = version + $2 WHERE id = $1 RETURNING version',
          [subject, (index % 3) + 1],
        );
        const sequence = rows[0]?.version ?? 0;
        await appendEvents(tx, [{ type: 'order.processing.v1', subject, sequence, requestId: 'r', data }]);
      }),
    ),
  );
  const chain = (await stored()).sort(([a], [b]) => a - b);
  expect(chain.map(([, previous]) => previous)).toEqual([null, ...chain.slice(0, -1).map(([sequence]) => sequence)]);
});

it('a repeated state of an account follows itself, also when a newer version has an event already', async () => {
  for (const sequence of [1, 2, 2, 1, 3]) await insert('accounts', 'account.updated.v1', sequence);
  expect(await stored('accounts')).toEqual([
    [1, null],
    [2, 1],
    [2, 2],
    [1, 1],
    [3, 2],
  ]);
});

it.each([
  ['accounts', 'email-token.issued.v1'],
  ['catalogue', 'stock.released.v1'],
  ['catalogue', 'stock.lines-released.v1'],
  ['catalogue', 'stock.returned.v1'],
] as const)(
  'an event without an order among the events of its subject has no predecessor (%s, %s)',
  async (service, type) => {
    await insert(service, service === 'accounts' ? 'account.registered.v1' : 'product.created.v1', 1);
    await insert(service, type, 2);
    await insert(service, service === 'accounts' ? 'account.updated.v1' : 'stock.changed.v1', 3);
    expect(await stored(service)).toEqual([
      [1, null],
      [2, null],
      [3, 1],
    ]);
  },
);
