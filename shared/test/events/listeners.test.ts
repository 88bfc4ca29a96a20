// Listeners on PostgreSQL.
import pg from 'pg';
import { withClient } from '../../src/database/index.ts';
import { connectTransport } from '../../src/events/connect-transport.ts';
import { shopTopology } from '../../src/events/index.ts';
import type { AddedListener } from '../../src/events/listeners.ts';
import { createTestDatabase } from '../../src/testing/index.ts';
import { log } from './brokers.ts';
import { listenersSuite } from './listeners-suite.ts';

listenersSuite(async () => {
  const database = await createTestDatabase([]);
  const { events: url } = database.urls;
  const transport = await connectTransport({ url, name: 'test', topology: shopTopology, log });
  return {
    ...{ url, adminUrl: database.adminUrl, transport },
    async consume({ url: own, queue }) {
      return withClient({ url: own }, async (client) => {
        const { rows } = await client.query(
          `DELETE FROM ${queue} WHERE id IN (SELECT id FROM ${queue} ORDER BY added_at LIMIT 100 FOR UPDATE SKIP LOCKED)
           RETURNING event`,
        );
        return rows.map(({ event }) => event);
      });
    },
    permitted: (one, other) => permittedOf(one, other),
    async close() {
      await transport.close();
      await database.drop();
    },
  };
});

async function permittedOf(one: AddedListener, other: AddedListener): Promise<string[]> {
  const queue = `'listener.${other.name}'`;
  const statements = [
    `SELECT * FROM events.${other.queue}`,
    `DELETE FROM events.${other.queue}`,
    'SELECT * FROM events.job',
    'SELECT * FROM events.job_common',
    'DELETE FROM events.job',
    'SELECT * FROM events.queue',
    'SELECT * FROM events.subscription',
    `INSERT INTO events.${one.queue} (id) VALUES (gen_random_uuid())`,
    `INSERT INTO events.job (name, data) VALUES (${queue}, '{}')`,
    `INSERT INTO events.subscription (event, name) VALUES ('order.paid.v1', 'listener.${one.name}')`,
    `UPDATE events.${one.queue} SET added_at = now()`,
    "SELECT events.create_queue('mine', '{}')",
    `SELECT events.delete_queue(${queue})`,
    `DROP VIEW events.${one.queue}`,
    'CREATE TABLE events.mine (id int)',
    'CREATE TABLE public.mine (id int)',
    'CREATE SCHEMA mine',
    'CREATE ROLE mine',
    'SET ROLE events',
    'SET ROLE orders',
    `SET ROLE ${other.user}`,
    'SELECT * FROM orders.outbox',
  ];
  const permitted: string[] = [];
  for (const statement of statements) {
    const client = new pg.Client({ connectionString: one.url });
    await client.connect();
    await client.query(`BEGIN; ${statement}; ROLLBACK`).then(
      () => permitted.push(statement),
      (error: { code?: string }) => {
        // A refusal of another kind shows a mistake in the statement.
        if (error.code !== '42501') permitted.push(`${statement}: ${error.code}`);
      },
    );
    await client.end();
  }
  return permitted;
}
