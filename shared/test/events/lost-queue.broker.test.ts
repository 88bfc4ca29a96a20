// A queue is deleted with events in it: the outboxes still have them, and each takes effect once.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect } from 'amqplib';
import { sql } from '../../src/database/index.ts';
import { connectTransport, consume, startRelay, type Topology } from '../../src/events/index.ts';
import { declareConsumer, namesOf } from '../../src/events/rabbitmq-topology.ts';
import { repeatEvents } from '../../src/events/repeat-events.ts';
import { eventually, testBroker } from '../../src/testing/index.ts';
import { log } from './brokers.ts';
import { eventType, startStore, type TestStore } from './service.ts';

const topology: Topology = { consumers: { taker: [eventType] }, retries: 1, retryDelay: 1 };

describe('a deleted queue', () => {
  let store: TestStore;
  let url: string;

  beforeAll(async () => {
    [url, store] = await Promise.all([testBroker(), startStore()]);
    await store.database.pool.query('CREATE TABLE effects (event_id uuid NOT NULL)');
  }, 120_000);
  afterAll(() => store.close());

  const deleteQueue = async (makeAgain = false) => {
    const connection = await connect(url);
    const channel = await connection.createChannel();
    const names = namesOf(new URL(url).searchParams.get('namespace') ?? '');
    const { messageCount } = await channel.deleteQueue(names.queue('taker'));
    if (makeAgain) await declareConsumer(connection, channel, names, topology, 'taker');
    await connection.close();
    return messageCount;
  };
  const effects = async () =>
    (await store.database.pool.query<{ event_id: string }>('SELECT event_id FROM effects ORDER BY event_id')).rows.map(
      ({ event_id }) => event_id,
    );
  const service = () =>
    connectTransport({
      url,
      name: 'sender',
      topology,
      log,
      repeat: (consumers) =>
        repeatEvents(
          store.database,
          consumers.flatMap((name) => topology.consumers[name] ?? []),
        ),
    });
  const take = (transport: Awaited<ReturnType<typeof service>>, pause = 0) =>
    consume({
      name: 'taker',
      transport,
      database: store.database,
      log,
      prefetch: 1,
      handlers: {
        [eventType]: async (event, tx) => {
          await sql(tx, 'SELECT pg_sleep($1)', [pause]);
          await sql(tx, 'INSERT INTO effects (event_id) VALUES ($1)', [event.id]);
        },
      },
    });

  it('loses nothing while its consumer is down', async () => {
    const sender = await service();
    const relay = startRelay({ databaseUrl: store.url, transport: sender, source: '/test', log });
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) ids.push(await store.append());
    await eventually(async () => expect(await store.unpublished()).toEqual([]));
    expect(await deleteQueue()).toBe(20);
    const taker = await service();
    const stop = await take(taker);
    await eventually(async () => expect(await effects()).toEqual(ids.sort()), 10_000);
    await stop();
    await relay.close();
    await Promise.all([sender.close(), taker.close()]);
  });

  it.each([
    ['and nobody else makes it again', false],
    ['and somebody else makes it again at once', true],
  ])('loses nothing while its consumer works, %s', async (_who, makeAgain) => {
    await store.database.pool.query('TRUNCATE effects');
    const sender = await service();
    const relay = startRelay({ databaseUrl: store.url, transport: sender, source: '/test', log });
    const taker = await service();
    const stop = await take(taker, 0.05);
    const ids: string[] = [];
    for (let n = 0; n < 40; n += 1) ids.push(await store.append());
    await eventually(async () => expect(await store.unpublished()).toEqual([]));
    await eventually(async () => expect((await effects()).length).toBeGreaterThan(2));
    expect(await deleteQueue(makeAgain)).toBeGreaterThan(0);
    await eventually(async () => expect(await effects()).toEqual(ids.sort()), 15_000);
    await stop();
    await relay.close();
    await Promise.all([sender.close(), taker.close()]);
  });
});
