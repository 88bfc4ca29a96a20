// A queue is deleted with events in it. The events are still in the outboxes, and each takes effect once.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import { sql } from '../../../src/database/index.ts';
import { connectTransport, consume, startRelay, type Topology } from '../../../src/events/index.ts';
import { requestRepublish, restoreQueues } from '../../../src/events/rabbitmq/republish.ts';
import { declareConsumer, findLost, type Names, namesOf } from '../../../src/events/rabbitmq/topology.ts';
import { republishEvents } from '../../../src/events/republish-events.ts';
import { eventually, testBroker } from '../../../src/testing/index.ts';
import { log } from '../brokers.ts';
import { eventType, startStore, type TestStore } from '../service.ts';

const topology: Topology = { consumers: { taker: [eventType] }, retries: 1, retryDelay: 1 };

describe('a deleted queue', () => {
  let store: TestStore;
  let url: string;

  beforeAll(async () => {
    [url, store] = await Promise.all([testBroker(), startStore()]);
    await store.database.pool.query('CREATE TABLE effects (event_id uuid NOT NULL)');
  });
  afterAll(() => store.close());

  const asAdmin = async <T>(
    work: (channel: Channel, connection: ChannelModel, names: Names) => Promise<T>,
  ): Promise<T> => {
    const connection = await connect(url);
    try {
      const channel = await connection.createChannel();
      channel.on('error', () => {});
      return await work(channel, connection, namesOf(new URL(url).searchParams.get('namespace') ?? ''));
    } finally {
      await connection.close();
    }
  };
  const deleteQueue = (makeAgain = false) =>
    asAdmin(async (channel, connection, names) => {
      const { messageCount } = await channel.deleteQueue(names.queue('taker'));
      if (makeAgain) {
        // As a process does. RabbitMQ 3.10 does not tell a consumer of a queue that is declared again even sooner.
        await findLost(connection, names, topology, ['taker']);
        await declareConsumer(channel, names, topology, 'taker');
      }
      return messageCount;
    });
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
        republishEvents(
          store.database,
          consumers.flatMap((name) => topology.consumers[name] ?? []),
        ),
    });
  const take = (transport: Awaited<ReturnType<typeof service>>, pause = 0) =>
    consume({
      name: 'taker',
      // The consumer handles one event at a time, so the others are in the queue when it is deleted.
      transport: { ...transport, subscribe: (all) => transport.subscribe({ ...all, prefetch: 1 }) },
      database: store.database,
      log,
      handlers: {
        [eventType]: async (event, tx) => {
          await sql(tx, 'SELECT pg_sleep($1)', [pause]);
          await sql(tx, 'INSERT INTO effects (event_id) VALUES ($1)', [event.id]);
        },
      },
    });

  /** A service that has published 20 events. */
  const publish20 = async () => {
    const sender = await service();
    const relay = startRelay({ databaseUrl: store.url, transport: sender, source: '/test', log });
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) ids.push(await store.append());
    await eventually(async () => expect(await store.unpublished()).toEqual([]));
    return { sender, relay, ids };
  };

  beforeEach(() => store.database.pool.query('TRUNCATE effects, outbox, inbox'));

  it('loses nothing while its consumer is down', async () => {
    const { sender, relay, ids } = await publish20();
    // The service has been stopped for almost as long as published events are kept.
    await store.database.pool.query("UPDATE outbox SET published_at = published_at - interval '71 hours'");
    // There may be more, because the sender also republishes events when its own queue is missing.
    expect(await deleteQueue()).toBeGreaterThanOrEqual(20);
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

  it('loses nothing when the process that makes it again ends before it could say so', async () => {
    const { sender, relay, ids } = await publish20();
    expect(await deleteQueue()).toBeGreaterThanOrEqual(20);
    await asAdmin(async (channel, connection, names) => {
      const dying = await connection.createConfirmChannel();
      dying.bindQueue = () => Promise.reject(new Error('the process ends'));
      await expect(restoreQueues(connection, dying, names, topology, ['taker'])).rejects.toThrow('the process ends');
      expect(await channel.checkQueue(names.queue('taker'))).toMatchObject({ consumerCount: 0 });
      await declareConsumer(channel, names, topology, 'taker');
    });
    const taker = await service();
    const stop = await take(taker);
    await eventually(async () => expect(await effects()).toEqual(ids.sort()), 15_000);
    await stop();
    await relay.close();
    await Promise.all([sender.close(), taker.close()]);
  });

  it('loses no event when the queue for requests to the sender was deleted before', async () => {
    const { sender, relay, ids } = await publish20();
    await asAdmin((channel, _, names) => channel.deleteQueue(names.repeat('sender')));
    // The queue and its consumer exist again, so the next failure has another cause.
    await eventually(
      () =>
        asAdmin(async (channel, _, names) => {
          expect(await channel.checkQueue(names.repeat('sender'))).toMatchObject({ consumerCount: 1, messageCount: 0 });
        }),
      10_000,
    );
    await eventually(async () => expect(await store.unpublished()).toEqual([]));
    expect(await deleteQueue()).toBeGreaterThanOrEqual(20);
    const taker = await connectTransport({ url, name: 'taker', topology, log });
    const stop = await take(taker);
    await eventually(async () => expect(await effects()).toEqual(ids.sort()), 15_000);
    await stop();
    await relay.close();
    await Promise.all([sender.close(), taker.close()]);
  });

  it('is answered for until the outbox is there, and so is the next one', async () => {
    const consumers = { first: [eventType], second: [eventType], third: [eventType] };
    const own = await testBroker();
    const asked: string[] = [];
    const answered: string[] = [];
    const [away, slow] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const options = { url: own, name: 'sender', topology: { consumers, retries: 0, retryDelay: 1 }, log };
    const declaring = await connectTransport(options);
    const transport = await connectTransport({
      ...options,
      repeat: async (names) => {
        const name = String(names);
        asked.push(name);
        if (name === 'first' && asked.length === 1) await away.promise;
        if (name === 'second') await slow.promise;
        answered.push(name);
      },
    });
    const connection = await connect(own);
    connection.on('error', () => {});
    const channel = await connection.createConfirmChannel();
    const names = namesOf(new URL(own).searchParams.get('namespace') ?? '');
    // The queue did not exist before, so events that were published before its declaration are republished.
    await eventually(() => expect(answered).toEqual(['first,second,third', 'first,second,third']));
    [asked.length, answered.length] = [0, 0];
    await requestRepublish(channel, names, ['first']);
    await eventually(() => expect(asked).toEqual(['first']));
    await requestRepublish(channel, names, ['second']);
    await new Promise((resolve) => setTimeout(resolve, 1_000)); // time enough to take the second beside the first
    away.reject(new Error('the outbox is away'));
    await eventually(() => expect(asked.length).toBeGreaterThan(2));
    slow.resolve();
    await eventually(() => expect(answered).toEqual(['first', 'second']));
    await requestRepublish(channel, names, ['third']);
    await eventually(() => expect(answered).toEqual(['first', 'second', 'third']));
    await connection.close();
    await Promise.all([declaring.close(), transport.close()]);
  });
});
