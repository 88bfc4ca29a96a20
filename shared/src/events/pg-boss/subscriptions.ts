// The queues of listeners, which pg-boss has as subscriptions to the types of events.
import pg from 'pg';
import type { PgBoss } from 'pg-boss';

/** Returns the queue of a listener. */
export const listenerQueue = (name: string): string => `listener.${name}`;

export interface ListenerSubscription {
  readonly queue: string;
  readonly types: readonly string[];
}

export async function readSubscriptions(boss: PgBoss, namespace: string): Promise<readonly ListenerSubscription[]> {
  const { rows } = await boss
    .getDb()
    .executeSql(
      `SELECT name AS queue, array_agg(event) AS types FROM ${pg.escapeIdentifier(namespace)}.subscription GROUP BY name`,
    );
  return rows as ListenerSubscription[];
}
