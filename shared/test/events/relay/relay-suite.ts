// The relay on a real PostgreSQL and a real broker: no event is lost and none stays unpublished, whichever process
// dies.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import {
  appendEvent,
  connectTransport,
  type Relay,
  startEvents,
  startRelay,
  type Topology,
  type Transport,
} from '../../../src/events/index.ts';
import { republishEvents } from '../../../src/events/republish-events.ts';
import { eventually } from '../../../src/testing/index.ts';
import { type Kind, log, record, startEventsFor, type TestEvents } from '../brokers.ts';
import { eventType, shipped, startStore, type TestStore } from '../service.ts';
import { startProxy } from '../tcp-proxy.ts';

const topology: Topology = { consumers: { taker: [eventType] }, retries: 1, retryDelay: 1 };
const threeDaysAgo = () => new Date(Date.now() - 72 * 3_600_000).toISOString();

export const relaySuite = (kind: Kind): void =>
  describe(`the relay on ${kind}`, () => {
    let events: TestEvents;
    let transport: Transport;
    let store: TestStore;
    const relays: Relay[] = [];
    const takers: { stop(): Promise<void> }[] = [];
    const taking = async () => {
      const taker = await record(transport, 'taker');
      takers.push(taker);
      return taker;
    };
    const relay = (
      options: { transport?: Transport; databaseUrl?: string; pollInterval?: number; batchSize?: number } = {},
    ) => {
      relays.push(startRelay({ databaseUrl: store.url, transport, source: '/orders', log, ...options }));
    };
    const inOrder = (deliveries: readonly { content: string }[]) =>
      deliveries.map(({ content }) => (JSON.parse(content) as { id: string }).id);
    const idsOf = (deliveries: readonly { content: string }[]) => inOrder(deliveries).sort();

    beforeAll(async () => {
      events = await startEventsFor(kind);
      transport = await events.open(topology);
    });
    beforeEach(async () => {
      store = await startStore();
    });
    afterEach(async () => {
      await Promise.all(relays.splice(0).map((each) => each.close()));
      await Promise.all(takers.splice(0).map((each) => each.stop()));
      await store.close();
    });
    afterAll(() => events.close());

    it('publishes committed events as CloudEvents, and marks them', async () => {
      const taker = await taking();
      relay();
      const { subject, data, traceparent } = shipped();
      const id = await store.append(subject);
      await eventually(() => expect(taker.deliveries).toHaveLength(1));
      expect(JSON.parse(taker.deliveries[0]?.content ?? '')).toEqual({
        specversion: '1.0',
        id,
        source: '/orders',
        type: eventType,
        subject,
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        datacontenttype: 'application/json',
        sequence: '0000000003',
        requestid: 'request-1',
        traceparent,
        data: { ...data, orderId: subject, accountId: subject, reservationId: subject },
      });
      await eventually(async () => expect(await store.unpublished()).toEqual([]));
    });

    it('publishes the sequence of the previous event of the subject', async () => {
      const taker = await taking();
      const id = await store.append();
      await store.database.pool.query('UPDATE outbox SET previous_sequence = 2 WHERE id = $1', [id]);
      relay();
      await eventually(() => expect(taker.deliveries).toHaveLength(1));
      expect(JSON.parse(taker.deliveries[0]?.content ?? '')).toMatchObject({
        sequence: '0000000003',
        previoussequence: '0000000002',
      });
    });

    it('publishes nothing of a transaction that was rolled back', async () => {
      const taker = await taking();
      relay();
      const rolledBack = store.database.transaction(async (tx) => {
        await appendEvent(tx, shipped());
        throw new Error('changed its mind');
      });
      await expect(rolledBack).rejects.toThrow('changed its mind');
      const id = await store.append();
      await eventually(() => expect(idsOf(taker.deliveries)).toEqual([id]));
    });

    it('refuses to append data that its type does not allow', async () => {
      const wrong = { ...shipped(), data: { ...shipped().data, orderId: 'no uuid' } };
      await expect(store.database.transaction((tx) => appendEvent(tx, wrong))).rejects.toThrow(/data\/orderId/);
    });

    it('publishes each row once when several relays run', async () => {
      const taker = await taking();
      const ids = await store.database.transaction(async (tx) => {
        const all: string[] = [];
        for (let n = 0; n < 300; n += 1) all.push(await appendEvent(tx, shipped()));
        return all;
      });
      for (let n = 0; n < 4; n += 1) relay({ batchSize: 10 });
      await eventually(async () => expect(await store.unpublished()).toEqual([]));
      await eventually(() => expect(idsOf(taker.deliveries)).toEqual(ids.sort()));
    });

    it('publishes in the order in which events came, over many batches', async () => {
      const taker = await taking();
      const ids: string[] = [];
      for (let n = 0; n < 50; n += 1) ids.push(await store.append());
      const published: string[] = [];
      relay({
        batchSize: 10,
        transport: {
          ...transport,
          publish(messages) {
            published.push(...messages.map(({ id }) => id));
            return transport.publish(messages);
          },
        },
      });
      await eventually(() => expect(taker.deliveries).toHaveLength(50), 15_000);
      expect(published).toEqual(ids);
      // pg-boss guarantees no order among the jobs of one batch.
      if (kind === 'rabbitmq') expect(inOrder(taker.deliveries)).toEqual(ids);
      else expect(idsOf(taker.deliveries)).toEqual(ids);
    });

    it('publishes new events without delay while it republishes days of events', async () => {
      const taker = await taking();
      await store.published(5_000);
      await republishEvents(store.database.pool, [eventType], threeDaysAgo());
      const latest = await store.append();
      const { rows } = await store.database.pool.query<{ before: number }>(
        `SELECT count(*)::int AS before FROM outbox
         WHERE published_at IS NULL AND next_attempt_at < (SELECT next_attempt_at FROM outbox WHERE id = $1)`,
        [latest],
      );
      const before = Number(rows[0]?.before);
      expect(before).toBeLessThan(5_000);
      relay();
      await eventually(() => expect(inOrder(taker.deliveries)).toContain(latest), 15_000);
      expect(inOrder(taker.deliveries).indexOf(latest)).toBeLessThan(before + 1_000);
      await eventually(() => expect(taker.deliveries).toHaveLength(5_001), 30_000);
    });

    it('marks the published events before a republication selects marked ones', async () => {
      const taker = await taking();
      const id = await store.append();
      const [published, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      relay({
        transport: {
          ...transport,
          async publish(messages) {
            const outcomes = await transport.publish(messages);
            published.resolve();
            await goOn.promise;
            return outcomes;
          },
        },
      });
      await published.promise;
      const repeated = republishEvents(store.database.pool, [eventType], threeDaysAgo());
      setTimeout(goOn.resolve, 500); // a repeat that does not wait is over by then
      await repeated;
      await eventually(async () => {
        const { rows } = await store.database.pool.query('SELECT attempts FROM outbox WHERE id = $1', [id]);
        expect(rows).toEqual([{ attempts: 2 }]);
      });
      await eventually(() => expect(idsOf(taker.deliveries)).toEqual(kind === 'rabbitmq' ? [id, id] : [id]));
    });

    it('publishes a row that becomes visible after a later one', async () => {
      const taker = await taking();
      relay();
      let second: string | undefined;
      const first = await store.database.transaction(async (early) => {
        const id = await appendEvent(early, shipped());
        second = await store.append();
        await eventually(() => expect(idsOf(taker.deliveries)).toEqual([second]));
        return id;
      });
      await eventually(() => expect(idsOf(taker.deliveries)).toEqual([first, second]));
    });

    it('frees the rows of a relay that was killed between publishing and marking', async () => {
      const taker = await taking();
      const id = await store.append();
      const program = fileURLToPath(new URL('../dying-process.ts', import.meta.url));
      const child = spawn(process.execPath, [program, 'relay', events.url, store.url, JSON.stringify(topology)]);
      const [, signal] = await once(child, 'exit');
      expect(signal).toBe('SIGKILL');
      expect(await store.unpublished()).toEqual([id]);
      relay();
      // pg-boss recognises an event by its id. RabbitMQ delivers both, and the inbox recognises the second one.
      await eventually(() => expect(idsOf(taker.deliveries)).toEqual(kind === 'rabbitmq' ? [id, id] : [id]));
      await eventually(async () => expect(await store.unpublished()).toEqual([]));
    });

    it('keeps and reports events that no queue accepts, and publishes them when the queue exists again', async () => {
      await events.deleteQueue('taker');
      relay();
      const id = await store.append();
      const attempts = await eventually(async () => {
        const { rows } = await store.database.pool.query('SELECT attempts, problem FROM outbox WHERE id = $1', [id]);
        expect(rows[0]?.attempts).toBeGreaterThan(0);
        return rows;
      });
      expect(attempts).toEqual([{ attempts: 1, problem: 'no queue takes it' }]);
      const taker = await taking();
      await eventually(() => expect(idsOf(taker.deliveries)).toEqual([id]));
      await eventually(async () => expect(await store.unpublished()).toEqual([]));
    });

    it('publishes without being notified', async () => {
      const taker = await taking();
      await store.database.pool.query('DROP TRIGGER outbox_notify ON outbox');
      relay({ pollInterval: 200 });
      await new Promise((resolve) => setTimeout(resolve, 100));
      const id = await store.append();
      await eventually(() => expect(idsOf(taker.deliveries)).toEqual([id]));
    });

    it('is woken by the row, long before it would look by itself', async () => {
      const taker = await taking();
      relay({ pollInterval: 60_000 });
      await store.append();
      await eventually(() => expect(taker.deliveries).toHaveLength(1));
      await new Promise((resolve) => setTimeout(resolve, 100));
      await store.append();
      await eventually(() => expect(taker.deliveries).toHaveLength(2));
    });

    it('continues after its database connection was ended or cut', async () => {
      const taker = await taking();
      const proxy = await startProxy(store.url);
      relay({ databaseUrl: proxy.url });
      const first = await store.append();
      await eventually(() => expect([...new Set(idsOf(taker.deliveries))]).toEqual([first]));
      const admin = new pg.Client({ connectionString: store.adminUrl });
      await admin.connect();
      const ended = await admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'relay /orders' AND datname = current_database()`,
      );
      expect(ended.rowCount).toBe(1);
      await admin.end();
      const second = await store.append();
      // An event that was published but not yet marked is delivered twice.
      await eventually(() => expect([...new Set(idsOf(taker.deliveries))]).toEqual([first, second]));
      await proxy.cut();
      const third = await store.append();
      await proxy.restore();
      await eventually(() => expect([...new Set(idsOf(taker.deliveries))]).toEqual([first, second, third]));
      await Promise.all(relays.splice(0).map((each) => each.close()));
      await proxy.close();
    });

    it('keeps events while the broker is unavailable, reports their age, and publishes them afterwards', async () => {
      const proxy = await startProxy(events.url);
      const taker = await taking();
      const away = await connectTransport({ url: proxy.url, name: 'away', topology, log });
      relay({ transport: away });
      await proxy.cut();
      await eventually(() => expect(away.ping()).rejects.toThrow(/ is unavailable/));
      const ids = await Promise.all(Array.from({ length: 20 }, () => store.append()));
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(await store.unpublished()).toHaveLength(20);
      await proxy.restore();
      await eventually(() => expect([...new Set(idsOf(taker.deliveries))]).toEqual(ids.sort()), 10_000);
      await away.ping();
      await Promise.all(relays.splice(0).map((each) => each.close()));
      await away.close();
      await proxy.close();
    });

    it('reports for how long an unpublished event has been due', async () => {
      const started = await startEvents({
        service: 'notifications',
        url: events.url.replace(/\?.*/, '?namespace=lag_of_nobody'),
        databaseUrl: store.url,
        database: store.database,
        log,
        refused: () => {},
      });
      await eventually(async () => expect(await started.lag()).toBe(0));
      const waiting = (due: string, problem: string | null) =>
        store.database.pool.query(
          `INSERT INTO outbox (id, type, subject, sequence, request_id, data, created_at, next_attempt_at, problem)
           VALUES (gen_random_uuid(), 'order.shipped.v1', 's', 1, 'r', '{}',
             now() - interval '90 seconds', ${due}, $1)`,
          [problem],
        );
      await waiting("now() + interval '1 hour'", null); // published again, an hour from now
      expect(await started.lag()).toBe(0);
      await waiting("'infinity'", 'no queue takes it');
      expect(await started.lag()).toBeGreaterThan(89);
      expect(await started.lag()).toBeLessThan(120);
      await started.close();
    });
  });
