// The queue of events of a shop whose PostgreSQL servers fail over. No failover concerns the queue itself.
import { type BrokerUser, brokerDefinitions, brokerUsers } from '@shop/shared/events';
import { createTestDatabase, importDefinitions, startBrokerServer } from '@shop/shared/testing';
import pg from 'pg';

export interface EventQueue {
  /** The EVENTS_URL of the services. */
  readonly url: string;
  /** The EVENTS_URL of the command line. */
  readonly operatorUrl: string;
  /** Returns the names of the queues with events that are not handled, except dead letters. */
  waiting(): Promise<string[]>;
  stop(): Promise<void>;
}

export type EventQueueKind = 'pg-boss' | 'rabbitmq';

export const eventQueues: Readonly<Record<EventQueueKind, () => Promise<EventQueue>>> = {
  'pg-boss': startPgBoss,
  rabbitmq: startRabbitmq,
};

/** The queue in a PostgreSQL database of its own, on a server that does not fail over. */
async function startPgBoss(): Promise<EventQueue> {
  const database = await createTestDatabase([]);
  const jobs = new pg.Pool({ connectionString: database.adminUrl, max: 1 });
  jobs.on('error', () => {});
  return {
    url: database.urls.events,
    operatorUrl: database.urls.events,
    async waiting() {
      const { rows } = await jobs.query<{ name: string }>(
        "SELECT DISTINCT name FROM events.job WHERE state < 'completed' AND name NOT LIKE '%.dead'",
      );
      return rows.map(({ name }) => name);
    },
    async stop() {
      await jobs.end();
      await database.drop();
    },
  };
}

/** A RabbitMQ server of its own, because only its program also counts the messages that a consumer has received. */
async function startRabbitmq(): Promise<EventQueue> {
  const server = await startBrokerServer({ own: true });
  const passwords = Object.fromEntries(brokerUsers.map((user) => [user, user])) as Record<BrokerUser, string>;
  await importDefinitions(server, brokerDefinitions({ vhost: '/', namespace: 'shop', passwords }));
  return {
    url: server.url,
    // The user that an operator has under Compose and on Kubernetes.
    operatorUrl: `${server.url.replace(/\/\/.*@/, '//operator:operator@')}?declare=own`,
    async waiting() {
      const table = await server.control('list_queues', '--quiet', '--no-table-headers', 'name', 'messages');
      const queues = table.split('\n').map((line) => line.trim().split(/\s+/));
      return queues.flatMap(([name = '', messages]) => (Number(messages) > 0 && !name.endsWith('.dead') ? [name] : []));
    },
    stop: () => server.stop(),
  };
}
