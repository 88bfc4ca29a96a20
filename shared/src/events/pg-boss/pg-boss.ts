// Events over pg-boss on PostgreSQL, for a shop on one machine: the same queues, retries and dead letters without a
// broker.
import { toFamily } from '../event.ts';
import { BrokerUnavailableError, type Outcome, type Transport } from '../transport.ts';
import { Connection, type PgBossOptions } from './connection.ts';
import { deadLettersOf } from './dead-letters.ts';
import { insertMessages, toDeadQueue } from './queues.ts';
import { readSubscriptions } from './subscriptions.ts';

/** Resolves when PostgreSQL was reached, or after `connectTimeout`. The transport continues to try in both cases. */
export async function connectPgBoss(options: PgBossOptions): Promise<Transport> {
  const { topology, namespace } = options;
  const connection = new Connection(options);
  await connection.firstConnect();
  return {
    async publish(messages) {
      const outcomes = messages.map((): Outcome => 'confirmed');
      for (const [consumer, types] of Object.entries(topology.consumers)) {
        const families = new Set(types.map(toFamily));
        const wanted = messages.filter(({ type }) => families.has(toFamily(type)));
        if (wanted.length > 0 && !(await insertMessages(connection.boss(), consumer, wanted, topology))) {
          wanted.forEach((message) => {
            outcomes[messages.indexOf(message)] = 'unroutable';
          });
        }
      }
      for (const { queue, types } of await readSubscriptions(connection.boss(), namespace)) {
        const wanted = messages.filter(({ type }) => types.includes(type));
        // A listener that was removed meanwhile gets nothing.
        if (wanted.length > 0) await insertMessages(connection.boss(), queue, wanted, topology);
      }
      return outcomes;
    },
    async subscribe(subscription) {
      await connection.subscribe(subscription);
      return () => connection.unsubscribe(subscription);
    },
    async depth(consumer) {
      // pg-boss counts the jobs in each of its maintenance runs, every two seconds.
      const [alive] = await connection.boss().getQueueStats(consumer);
      const [dead] = await connection.boss().getQueueStats(toDeadQueue(consumer));
      const { readyCount: waiting = 0, deferredCount: delayed = 0 } = alive ?? {};
      return { waiting, delayed, dead: dead?.queuedCount ?? 0 };
    },
    ...deadLettersOf(connection),
    async ping() {
      try {
        await connection.boss().schemaVersion();
      } catch (error) {
        throw new BrokerUnavailableError('the events database is unavailable', { cause: error });
      }
    },
    close: () => connection.close(),
  };
}
