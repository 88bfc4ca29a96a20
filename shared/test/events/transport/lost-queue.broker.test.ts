// A queue is deleted with events in it. The events are still in the outboxes, and an operator publishes them again.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { connect } from 'amqplib';
import { sql } from '../../../src/database/index.ts';
import { connectTransport, consume, startRelay, type Topology } from '../../../src/events/index.ts';
import { declareConsumer, isThere, toNames } from '../../../src/events/rabbitmq/topology.ts';
import { republishEvents } from '../../../src/events/republish-events.ts';
import { eventually, testBroker } from '../../../src/testing/index.ts';
import { log, record } from '../brokers.ts';
import { eventType, startStore, type TestStore } from '../service.ts';

const topology: Topology = { consumers: { taker: [eventType] }, retries: 1, retryDelay: 1 };

describe('a deleted queue', () => {
  let store: TestStore;
  let url: string;
  const complaints: unknown[] = [];
  const watched = Object.assign(Object.create(log), { error: (...line: unknown[]) => void complaints.push(line) });

  beforeAll(async () => {
    [url, store] = await Promise.all([testBroker(), startStore()]);
    await store.database.pool.query('CREATE TABLE effects (event_id uuid NOT NULL)');
  });
  afterAll(() => store.close());
  beforeEach(() => store.database.pool.query('TRUNCATE effects, outbox, inbox'));

  /** @returns the number of messages that were in the queue */
  const deleteQueue = async (): Promise<number> => {
    const connection = await connect(url);
    try {
      const channel = await connection.createChannel();
      const namespace = new URL(url).searchParams.get('namespace');
      return (await channel.deleteQueue(`${namespace}.taker`)).messageCount;
    } finally {
      await connection.close();
    }
  };
  const effects = async () =>
    (await store.database.pool.query<{ event_id: string }>('SELECT event_id FROM effects ORDER BY event_id')).rows.map(
      ({ event_id }) => event_id,
    );

  it('a deleted queue is created again while its consumer works, is reported once, and republished events take effect once', async () => {
    const transport = await connectTransport({ url, name: 'service', topology, log: watched });
    const relay = startRelay({ databaseUrl: store.url, transport, source: '/test', log });
    const stop = await consume({
      name: 'taker',
      // The consumer handles one event at a time, so the others are in the queue when it is deleted.
      transport: { ...transport, subscribe: (all) => transport.subscribe({ ...all, prefetch: 1 }) },
      database: store.database,
      log,
      handlers: {
        [eventType]: async (event, tx) => {
          await sql(tx, 'SELECT pg_sleep(0.05)', []);
          await sql(tx, 'INSERT INTO effects (event_id) VALUES ($1)', [event.id]);
        },
      },
    });
    const ids: string[] = [];
    for (let n = 0; n < 40; n += 1) ids.push(await store.append());
    await eventually(async () => expect(await store.unpublished()).toEqual([]));
    await eventually(async () => expect((await effects()).length).toBeGreaterThan(2));
    expect(await deleteQueue()).toBeGreaterThan(0);
    const later = await store.append();
    await eventually(async () => expect(await effects()).toContain(later), 15_000);
    expect((await effects()).length).toBeLessThan(ids.length);
    expect(complaints).toEqual([
      [expect.objectContaining({ consumer: 'taker' }), expect.stringContaining('run shop events republish')],
    ]);
    const dayAgo = new Date(Date.now() - 24 * 3_600_000).toISOString();
    expect(await republishEvents(store.database.pool, [eventType], dayAgo)).toBe(41);
    await eventually(async () => expect(await effects()).toEqual([...ids, later].sort()), 15_000);
    await stop();
    await relay.close();
    await transport.close();
  });

  it('the consumer reports a deleted queue when another process declares it again first', async () => {
    complaints.length = 0;
    const transport = await connectTransport({ url, name: 'service', topology, log: watched });
    const taker = await record(transport, 'taker');
    const connection = await connect(url);
    const channel = await connection.createChannel();
    const names = toNames(new URL(url).searchParams.get('namespace') ?? '');
    await channel.deleteQueue(names.queue('taker'));
    // RabbitMQ 3.10 does not notify the consumer of a queue that is declared again even sooner.
    expect(await isThere(connection, names.queue('taker'))).toBe(false);
    await declareConsumer(channel, names, topology, 'taker');
    await eventually(() => expect(complaints).toHaveLength(1));
    await connection.close();
    await taker.stop();
    await transport.close();
  });

  it('a deleted queue is created again by the next connection of a process that publishes', async () => {
    const transport = await connectTransport({ url, name: 'service', topology, log });
    const relay = startRelay({ databaseUrl: store.url, transport, source: '/test', log });
    await deleteQueue();
    await store.append();
    await eventually(async () => expect(await store.unpublished()).toEqual([]), 10_000);
    expect(await deleteQueue()).toBe(1);
    await relay.close();
    await transport.close();
  });
});
