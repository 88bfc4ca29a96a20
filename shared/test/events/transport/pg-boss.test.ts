// Faults of PostgreSQL under the embedded queue: it is unavailable at the start, disconnected, or ends all sessions.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { connectTransport } from '../../../src/events/connect-transport.ts';
import { openDeadLetters } from '../../../src/events/index.ts';
import type { Message, Topology, Transport } from '../../../src/events/transport.ts';
import { newId } from '../../../src/runtime/index.ts';
import { createTestDatabase, eventually, type TestDatabase } from '../../../src/testing/index.ts';
import { log, record } from '../brokers.ts';
import { startProxy, type TcpProxy } from '../tcp-proxy.ts';

const topology: Topology = { consumers: { taker: ['order.shipped.v1'] }, retries: 1, retryDelay: 1 };

function message(): Message {
  const id = newId();
  return { id, type: 'order.shipped.v1', content: JSON.stringify({ id }) };
}

describe('the embedded queue', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let pool: pg.Pool;

  beforeAll(async () => {
    database = await createTestDatabase([]);
    proxy = await startProxy(database.urls.events);
    pool = new pg.Pool({ connectionString: database.adminUrl, max: 1 });
    pool.on('error', () => {});
  });
  afterAll(async () => {
    await proxy.close();
    await pool.end();
    await database.drop();
  });

  const open = () => connectTransport({ url: proxy.url, name: 'embedded test', topology, log });
  const arrives = async (transport: Transport, deliveries: readonly { content: string }[]) => {
    const sent = message();
    await eventually(async () => expect(await transport.publish([sent])).toEqual(['confirmed']), 10_000);
    await eventually(() => expect(deliveries.map(({ content }) => content)).toContain(sent.content), 10_000);
    // A job whose completion is interrupted would be delivered again during a later test. It is active until its
    // process has sent no heartbeat for ten seconds.
    const working = "SELECT FROM events.job WHERE name = 'taker' AND state = 'active'";
    await eventually(async () => expect((await pool.query(working)).rowCount).toBe(0), 20_000);
    return sent;
  };

  it('the embedded queue starts while the database is unavailable, and works once it is available', async () => {
    await proxy.cut();
    const transport = await open();
    await expect(transport.ping()).rejects.toThrow(/the events database is unavailable/);
    await expect(transport.publish([message()])).rejects.toThrow(/the events database is unavailable/);
    const starting = record(transport, 'taker');
    await proxy.restore();
    const taker = await starting;
    await eventually(() => transport.ping(), 10_000);
    await arrives(transport, taker.deliveries);
    await taker.stop();
    await transport.close();
  });

  it('the embedded queue continues after every session was ended, and after the network was cut', async () => {
    const transport = await open();
    const taker = await record(transport, 'taker');
    await arrives(transport, taker.deliveries);
    const admin = new pg.Client({ connectionString: database.adminUrl });
    await admin.connect();
    const ended = await admin.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity ' +
        "WHERE usename = 'events' AND datname = current_database()",
    );
    expect(ended.rowCount).toBeGreaterThan(1);
    await admin.end();
    await arrives(transport, taker.deliveries);
    await proxy.cut();
    await eventually(() => expect(transport.ping()).rejects.toThrow(/the events database is unavailable/));
    await proxy.restore();
    await arrives(transport, taker.deliveries);
    await taker.stop();
    await transport.close();
  });

  it('the embedded queue continues after its connections have failed without being closed', async () => {
    const transport = await open();
    const taker = await record(transport, 'taker');
    await arrives(transport, taker.deliveries);
    proxy.lose();
    const sent = message();
    const publish = () => transport.publish([sent]).catch(() => []);
    await eventually(async () => expect(await publish()).toEqual(['confirmed']), 30_000);
    await eventually(() => expect(taker.deliveries.map(({ content }) => content)).toContain(sent.content), 30_000);
    await taker.stop();
    await transport.close();
  });

  it('the embedded queue waits for a handler whose database does not respond, without another delivery', async () => {
    const transport = await open();
    const delivered: string[] = [];
    let finished = 0;
    const stop = await transport.subscribe({
      consumer: 'taker',
      prefetch: 5,
      async handle({ content }) {
        delivered.push(content);
        // Longer than without heartbeats, which pg-boss sends meanwhile.
        await sleep(13_000);
        finished += 1;
        return { kind: 'done' };
      },
    });
    const sent = message();
    expect(await transport.publish([sent])).toEqual(['confirmed']);
    await eventually(() => expect(finished).toBe(1), 30_000);
    await sleep(2_000);
    expect(delivered).toEqual([sent.content]);
    await stop();
    await transport.close();
  });

  it('an event that is published twice gets one job', async () => {
    const transport = await open();
    const taker = await record(transport, 'taker');
    const sent = await arrives(transport, taker.deliveries);
    expect(await transport.publish([sent])).toEqual(['confirmed']);
    const last = await arrives(transport, taker.deliveries);
    expect(taker.deliveries.map(({ content }) => content)).toEqual([sent.content, last.content]);
    await taker.stop();
    await transport.close();
  });

  it('the embedded queue identifies a dead letter by the id of its event, also when it fails again', async () => {
    const consumers = { failing: ['order.shipped.v1'] };
    const often: Topology = { consumers, retries: 6, retryDelay: 0 };
    const transport = await connectTransport({ url: proxy.url, name: 'failing test', topology: often, log });
    const failing = await record(transport, 'failing', () => ({ kind: 'failed', reason: 'no' }));
    const desk = await openDeadLetters({ url: database.urls.events, log, topology: often });
    const [first, second] = [message(), message()];
    await transport.publish([first, second]);
    const given = async (deliveries: number) => {
      await eventually(() => expect(failing.deliveries).toHaveLength(deliveries), 20_000);
      await eventually(async () => {
        const ids = (await desk.list()).map(({ id }) => id);
        expect(ids.sort()).toEqual([first.id, second.id].sort());
      });
    };
    await given(14);
    expect(await desk.show(first.id)).toMatchObject({ id: first.id, attempts: 7, content: first.content });
    expect(await desk.replay(first.id)).toBe(true);
    await given(21);
    expect(await desk.discard(first.id)).toBe(true);
    expect((await desk.list()).map(({ id }) => id)).toEqual([second.id]);
    await failing.stop();
    await desk.close();
    await transport.close();
  });

  it('the embedded queue is notified of an event long before its next poll', async () => {
    const transport = await open();
    const taker = await record(transport, 'taker');
    const times: number[] = [];
    for (let n = 0; n < 10; n += 1) {
      const sent = message();
      const start = performance.now();
      await transport.publish([sent]);
      await eventually(() => expect(taker.deliveries.at(-1)?.content).toBe(sent.content));
      times.push(performance.now() - start);
    }
    // Without a notification, an event waits about half a second. One slow event among the ten is the machine's.
    expect(times.sort((a, b) => a - b)[times.length / 2]).toBeLessThan(250);
    await taker.stop();
    await transport.close();
  });
});
