// The relay in comparison with a plain publisher with confirms on the same broker, and the time from COMMIT to the
// handler.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { connectDatabase, type Database, migrate, provisionDatabase, schemas } from '@shop/shared/database';
import { startEmbeddedPostgres } from '@shop/shared/embedded';
import {
  appendEvent,
  connectTransport,
  consume,
  shopTopology,
  startRelay,
  type Topology,
  type Transport,
} from '@shop/shared/events';
import { createLog, newId } from '@shop/shared/runtime';
import { serviceFolder, startBrokerServer } from '@shop/shared/testing';
import { connect } from 'amqplib';
import { withCleanUp } from '../cli/src/shop/clean-up.ts';

const log = createLog('bench', 'error');
const type = 'order.shipped.v1';
/** One queue, as for the plain publisher. */
const topology: Topology = { ...shopTopology, consumers: { bench: [type] } };
const windowOfPlain = 1_000;

export default async function relay(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...options],
    options: {
      events: { type: 'string', default: '20000' },
      rounds: { type: 'string', default: '3' },
      samples: { type: 'string', default: '300' },
    },
  });
  const events = Number(values.events);
  const folder = await mkdtemp(join(tmpdir(), 'shop-bench-'));
  const startingPostgres = startEmbeddedPostgres({ dataDir: folder, durable: true });
  const startingBroker = startBrokerServer();
  const measure = async (): Promise<void> => {
    const [postgres, broker] = await Promise.all([startingPostgres, startingBroker]);
    const roles = Object.fromEntries(schemas.map((name) => [name, 'bench'])) as Record<
      (typeof schemas)[number],
      string
    >;
    const urls = await provisionDatabase({ adminUrl: postgres.url, database: 'bench', roles });
    await migrate({ url: urls.notifications, folder: `${serviceFolder('notifications')}/migrations` });
    const database = connectDatabase({ url: urls.notifications, name: 'bench', log });
    const store = { database, databaseUrl: urls.notifications };

    const rates: Record<'plain publisher' | 'one relay' | 'two relays', number[]> = {
      'plain publisher': [],
      'one relay': [],
      'two relays': [],
    };
    const content = (await fill(store.database, 1)) ?? '';
    for (let round = 0; round < Number(values.rounds); round += 1) {
      rates['plain publisher'].push(await plain(at(broker.url), content, events));
      rates['one relay'].push(await relayed(at(broker.url), store, 1, events));
      rates['two relays'].push(await relayed(at(broker.url), store, 2, events));
    }
    const floor = median(rates['plain publisher']);
    console.log(`${events} events of ${content.length} bytes into one quorum queue, median of ${values.rounds} rounds`);
    for (const [name, all] of Object.entries(rates)) {
      console.log(
        `  ${name.padEnd(16)} ${Math.round(median(all))} a second  ${(median(all) / floor).toFixed(2)} of plain`,
      );
    }
    console.log('From COMMIT to the handler, one event at a time');
    for (const [name, url] of [
      ['RabbitMQ', at(broker.url)],
      ['pg-boss', urls.events],
    ] as const) {
      const times = await latencies(url, store, Number(values.samples));
      const part = (share: number) => times[Math.floor(times.length * share)]?.toFixed(1);
      console.log(`  ${name.padEnd(16)} p50 ${part(0.5)} ms  p99 ${part(0.99)} ms`);
    }
    await database.close();
  };
  await withCleanUp(measure, async () => {
    await (await startingBroker).stop();
    await (await startingPostgres).stop();
    await rm(folder, { recursive: true, force: true });
  });
}

interface Store {
  readonly database: Database;
  readonly databaseUrl: string;
}

/** Returns the URL with a new, empty namespace. */
function at(url: string): string {
  return `${url}?namespace=bench_${newId().slice(-12)}`;
}

/** Adds unpublished events to the outbox. Returns one of them as it is published. */
async function fill(database: Database, events: number): Promise<string | undefined> {
  await database.pool.query('TRUNCATE outbox');
  await database.pool.query(
    `INSERT INTO outbox (id, type, subject, sequence, request_id, traceparent, data)
     SELECT uuidv7(), $1, uuidv7(), 3, uuidv7(), '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
            json_build_object('orderId', uuidv7(), 'accountId', uuidv7(), 'reservationId', uuidv7())
     FROM generate_series(1, $2)`,
    [type, events],
  );
  await database.pool.query('VACUUM ANALYZE outbox');
  const { rows } = await database.pool.query<{ event: string }>(
    `SELECT json_build_object('specversion', '1.0', 'id', id, 'source', '/bench',
       'type', type, 'subject', subject, 'time', created_at,
       'datacontenttype', 'application/json', 'sequence', '0000000003', 'requestid', request_id,
         'traceparent', traceparent, 'data', data)
       ::text AS event FROM outbox LIMIT 1`,
  );
  return rows[0]?.event;
}

/** Measures events a second. The topology is declared first, so that only publishing and the confirms are timed. */
async function plain(url: string, content: string, events: number): Promise<number> {
  const transport = await connectTransport({ url, name: 'bench', topology, log });
  await transport.ping();
  const connection = await connect(url, { noDelay: true });
  const channel = await connection.createConfirmChannel();
  const exchange = `${new URL(url).searchParams.get('namespace')}.events`;
  const body = Buffer.from(content);
  const start = performance.now();
  let confirmed = 0;
  let sent = 0;
  await new Promise<void>((resolve, reject) => {
    const next = (): void => {
      while (sent < events && sent - confirmed < windowOfPlain) {
        sent += 1;
        channel.publish(exchange, type, body, { persistent: true, mandatory: true }, (error) => {
          if (error) return reject(error);
          confirmed += 1;
          if (confirmed === events) return resolve();
          return next();
        });
      }
    };
    next();
  });
  const rate = events / ((performance.now() - start) / 1000);
  await empty(url, transport);
  await connection.close();
  return rate;
}

async function relayed(url: string, { database, databaseUrl }: Store, relays: number, events: number): Promise<number> {
  const transports = await Promise.all(
    Array.from({ length: relays }, () => connectTransport({ url, name: 'bench', topology, log })),
  );
  await fill(database, events);
  const start = performance.now();
  const running = transports.map((transport) => startRelay({ databaseUrl, transport, source: '/bench', log }));
  for (;;) {
    const { rows } = await database.pool.query('SELECT 1 FROM outbox WHERE published_at IS NULL LIMIT 1');
    if (rows.length === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const rate = events / ((performance.now() - start) / 1000);
  await Promise.all(running.map((each) => each.close()));
  const [first, ...others] = transports;
  await Promise.all(others.map((each) => each.close()));
  if (first !== undefined) await empty(url, first);
  return rate;
}

async function latencies(url: string, { database, databaseUrl }: Store, samples: number): Promise<number[]> {
  await database.pool.query('TRUNCATE outbox, inbox');
  const transport = await connectTransport({ url, name: 'bench', topology, log });
  const relay = startRelay({ databaseUrl, transport, source: '/bench', log });
  let arrived: (() => void) | undefined;
  const stop = await consume({
    name: 'bench',
    handlers: { [type]: async () => arrived?.() },
    transport,
    database,
    log,
  });
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const id = newId();
    const data = { orderId: id, accountId: id, reservationId: id };
    const arrival = new Promise<number>((resolve) => {
      arrived = () => resolve(performance.now());
    });
    await database.transaction((tx) => appendEvent(tx, { type, subject: id, sequence: 3, requestId: 'bench', data }));
    const committed = performance.now();
    times.push(Math.max(0, (await arrival) - committed));
  }
  await stop();
  await relay.close();
  await transport.close();
  return times.sort((a, b) => a - b);
}

/** Removes the queues of this round, so that each round starts with an empty broker. */
async function empty(url: string, transport: Transport): Promise<void> {
  await transport.close();
  const namespace = new URL(url).searchParams.get('namespace');
  const connection = await connect(url);
  const channel = await connection.createChannel();
  await channel.deleteQueue(`${namespace}.bench`);
  await connection.close();
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
