// The consumer on both transports: each event takes effect once, even when deliveries are repeated and processes are
// killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../../src/database/index.ts';
import { toCloudEvent } from '../../src/events/event.ts';
import { consume, type Handlers, type Topology, type Transport } from '../../src/events/index.ts';
import { newId } from '../../src/runtime/index.ts';
import { eventually } from '../../src/testing/index.ts';
import { type Kind, log, startEventsFor, type TestEvents } from './brokers.ts';
import { shipped, startStore, type TestStore } from './service.ts';

const topology: Topology = {
  consumers: {
    once: ['order.shipped.v1'],
    poison: ['order.delivered.v1'],
    failing: ['order.processing.v1'],
    interrupted: ['stock.released.v1'],
    dying: ['order.shipped.v1'],
  },
  retries: 2,
  retryDelay: 1,
};

function contentOf(type: string, data: object = shipped().data, id = newId()): string {
  const event = shipped();
  return toCloudEvent('/test', {
    ...event,
    id,
    type,
    previousSequence: 2,
    createdAt: new Date(),
    data: JSON.stringify(data),
  });
}

export const consumeSuite = (kind: Kind): void =>
  describe(`a consumer on ${kind}`, () => {
    let events: TestEvents;
    let transport: Transport;
    let store: TestStore;

    beforeAll(async () => {
      [events, store] = await Promise.all([startEventsFor(kind), startStore()]);
      transport = await events.open(topology);
      await store.database.pool.query('CREATE TABLE effects (event_id uuid NOT NULL)');
    });

    afterAll(async () => {
      await events.close();
      await store.close();
    });

    const start = (name: string, handlers: Handlers) =>
      consume({ name, handlers, transport, database: store.database, log });
    const effects = async (id: string) =>
      (await store.database.pool.query('SELECT 1 FROM effects WHERE event_id = $1', [id])).rowCount;
    const inbox = async (consumer: string) =>
      (await store.database.pool.query('SELECT event_id, type, attempt FROM inbox WHERE consumer = $1', [consumer]))
        .rows;

    it('passes the validated event to its handler', async () => {
      const seen: unknown[] = [];
      const stop = await start('once', { 'order.shipped.v1': async (event) => void seen.push(event) });
      const id = newId();
      await events.inject('once', contentOf('order.shipped.v1', undefined, id));
      await eventually(() => expect(seen).toHaveLength(1));
      expect(seen[0]).toMatchObject({
        id,
        type: 'order.shipped.v1',
        source: '/test',
        sequence: 3,
        previousSequence: 2,
        requestId: 'request-1',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        data: { orderId: expect.any(String) },
      });
      await stop();
    });

    it('handles an event once that is delivered ten times, also concurrently', async () => {
      const stop = await start('once', {
        'order.shipped.v1': async (event, tx) => {
          await sql(tx, 'INSERT INTO effects (event_id) VALUES ($1)', [event.id]);
          await sql(tx, 'SELECT pg_sleep(0.05)');
        },
      });
      const id = newId();
      const content = contentOf('order.shipped.v1', undefined, id);
      await Promise.all(Array.from({ length: 10 }, () => events.inject('once', content)));
      await eventually(async () => expect(await effects(id)).toBe(1));
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(await effects(id)).toBe(1);
      expect(await transport.deadLetters('once', 10)).toEqual([]);
      await stop();
    });

    it('confirms the inbox row before it acknowledges a repeated delivery', async () => {
      const stop = await start('once', { 'order.shipped.v1': async () => {} });
      const id = newId();
      const content = contentOf('order.shipped.v1', undefined, id);
      // A lock of the row, which PostgreSQL also writes to its log, leaves the id of its transaction in the row.
      const locked = async () =>
        (await store.database.pool.query("SELECT FROM inbox WHERE event_id = $1 AND xmax <> '0'", [id])).rowCount;
      await events.inject('once', content);
      await eventually(async () => expect((await inbox('once')).some((row) => row.event_id === id)).toBe(true));
      expect(await locked()).toBe(0);
      await events.inject('once', content);
      await eventually(async () => expect(await locked()).toBe(1));
      await stop();
    });

    it('makes dead letters with the reason from messages that it can never handle', async () => {
      const stop = await start('poison', { 'order.delivered.v1': async () => {} });
      const poison = [
        ['no JSON {', /the content is no JSON/],
        ['{"specversion":"1.0"}', /not an event: .*must have required property 'id'/],
        [contentOf('order.delivered.v2'), /unknown event type or version order\.delivered\.v2/],
        [
          contentOf('order.delivered.v1', { orderId: 7 }),
          /invalid order\.delivered\.v1: .*data\/orderId must be string/,
        ],
        [contentOf('order.shipped.v1'), /poison has no handler for order\.shipped\.v1/],
      ] as const;
      for (const [content] of poison) await events.inject('poison', content);
      const letters = await eventually(async () => {
        const found = await transport.deadLetters('poison', 10);
        expect(found).toHaveLength(poison.length);
        return found;
      });
      for (const [content, reason] of poison) {
        expect(letters.find((letter) => letter.content === content)?.reason).toMatch(reason);
      }
      await stop();
    });

    it('rolls the inbox row back with a failed handler, and handles the event when it is delivered again', async () => {
      let calls = 0;
      const stop = await start('failing', {
        'order.processing.v1': async (event, tx) => {
          calls += 1;
          await sql(tx, 'INSERT INTO effects (event_id) VALUES ($1)', [event.id]);
          if (calls === 1) throw new Error('not this time');
        },
      });
      const id = newId();
      await transport.publish([
        { id, type: 'order.processing.v1', content: contentOf('order.processing.v1', undefined, id) },
      ]);
      await eventually(async () => expect(await inbox('failing')).toHaveLength(1), 10_000);
      expect(await inbox('failing')).toEqual([{ event_id: id, type: 'order.processing.v1', attempt: 2 }]);
      expect(await effects(id)).toBe(1);
      await stop();
    });

    it('puts an event off, uncounted, when its database connection is lost', async () => {
      let calls = 0;
      const stop = await start('interrupted', {
        'stock.released.v1': async (_event, tx) => {
          calls += 1;
          if (calls <= 2) await sql(tx, 'SELECT pg_terminate_backend(pg_backend_pid())');
        },
      });
      const id = newId();
      const data = { ...shipped().data, outcome: 'done', releasedAt: new Date().toISOString() };
      await transport.publish([{ id, type: 'stock.released.v1', content: contentOf('stock.released.v1', data, id) }]);
      await eventually(async () => expect(await inbox('interrupted')).toHaveLength(1), 15_000);
      expect(await inbox('interrupted')).toEqual([{ event_id: id, type: 'stock.released.v1', attempt: 1 }]);
      await stop();
    });

    it('handles an event once when its process is killed between COMMIT and acknowledgement', async () => {
      const id = newId();
      await transport.publish([
        { id, type: 'order.shipped.v1', content: contentOf('order.shipped.v1', undefined, id) },
      ]);
      const program = fileURLToPath(new URL('dying-process.ts', import.meta.url));
      const child = spawn(process.execPath, [program, 'consumer', events.url, store.url, JSON.stringify(topology)]);
      const [, signal] = await once(child, 'exit');
      expect(signal).toBe('SIGKILL');
      expect(await effects(id)).toBe(1);

      let deliveries = 0;
      const watched: Transport = {
        ...transport,
        subscribe: (subscription) =>
          transport.subscribe({
            ...subscription,
            async handle(delivery) {
              const verdict = await subscription.handle(delivery);
              deliveries += 1;
              return verdict;
            },
          }),
      };
      const stop = await consume({
        name: 'dying',
        transport: watched,
        database: store.database,
        log,
        handlers: {
          'order.shipped.v1': async (event, tx) => {
            await sql(tx, 'INSERT INTO effects (event_id) VALUES ($1)', [event.id]);
          },
        },
      });
      await eventually(() => expect(deliveries).toBe(1), 20_000);
      expect(await effects(id)).toBe(1);
      await stop();
    });
  });
