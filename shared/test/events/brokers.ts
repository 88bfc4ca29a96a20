// The two transports for tests: a new namespace on the broker of the run, a new schema on PostgreSQL.
import { connect } from 'amqplib';
import pg from 'pg';
import { connectTransport } from '../../src/events/connect-transport.ts';
import type { Delivery, Topology, Transport, Verdict } from '../../src/events/transport.ts';
import { createLog } from '../../src/runtime/index.ts';
import { createTestDatabase, testBroker } from '../../src/testing/index.ts';
import { connectTimeout } from '../../src/testing/transport.ts';

export type Kind = 'rabbitmq' | 'pg-boss';

export const log = createLog('test', 'silent');

export interface TestEvents {
  readonly url: string;
  open(topology: Topology, name?: string): Promise<Transport>;
  /** Deletes a consumer's queue without notice to the processes that use it. */
  deleteQueue(consumer: string): Promise<void>;
  /** Adds any text to a consumer's queue. */
  inject(consumer: string, content: string): Promise<void>;
  close(): Promise<void>;
}

export async function startEventsFor(kind: Kind): Promise<TestEvents> {
  const open: Transport[] = [];
  const at = (url: string) => ({
    url,
    async open(topology: Topology, name = 'test') {
      const transport = await connectTransport({ url, name, topology, log, connectTimeout });
      open.push(transport);
      return transport;
    },
  });
  const closeAll = () => Promise.all(open.map((transport) => transport.close()));
  if (kind === 'rabbitmq') {
    const url = await testBroker();
    const namespace = new URL(url).searchParams.get('namespace');
    const connection = await connect(url);
    const channel = await connection.createConfirmChannel();
    return {
      ...at(url),
      async deleteQueue(consumer) {
        await channel.deleteQueue(`${namespace}.${consumer}`);
      },
      async inject(consumer, content) {
        channel.sendToQueue(`${namespace}.${consumer}`, Buffer.from(content), { persistent: true });
        await channel.waitForConfirms();
      },
      async close() {
        await closeAll();
        await connection.close();
      },
    };
  }
  const database = await createTestDatabase([]);
  const pool = new pg.Pool({ connectionString: database.urls.events, max: 1 });
  pool.on('error', () => {}); // its database may be dropped before its last connection has closed
  return {
    ...at(database.urls.events),
    async deleteQueue(consumer) {
      await pool.query('SELECT events.delete_queue($1)', [consumer]);
    },
    async inject(consumer, content) {
      await pool.query(
        `INSERT INTO events.job_common (name, data, dead_letter, retry_limit)
         VALUES ($1, json_build_object('content', $2::text), $3, 0)`,
        [consumer, content, `${consumer}.dead`],
      );
    },
    async close() {
      await closeAll();
      await pool.end();
      await database.drop();
    },
  };
}

/** A consumer that records every delivery and answers with the result of `verdict`. */
export async function record(
  transport: Transport,
  consumer: string,
  verdict: (delivery: Delivery) => Verdict = () => ({ kind: 'done' }),
): Promise<{ readonly deliveries: Delivery[]; stop(): Promise<void> }> {
  const deliveries: Delivery[] = [];
  const stop = await transport.subscribe({
    consumer,
    prefetch: 5,
    async handle(delivery) {
      deliveries.push(delivery);
      return verdict(delivery);
    },
  });
  return { deliveries, stop };
}
