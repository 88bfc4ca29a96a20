// Metrics of the database connections, by the OpenTelemetry conventions for database clients.
import type pg from 'pg';
import { observe } from '../telemetry/index.ts';

const name = 'db.client.connection.pool.name';

/** Observes the pool at each export of the metrics. */
export function observePool(pool: pg.Pool): void {
  const primary = { [name]: 'primary' };
  const connections = { unit: '{connection}', description: 'Connections of a pool, by whether they are in use.' };
  observe('db.client.connection.count', connections, (report) => {
    report(pool.totalCount - pool.idleCount, { ...primary, 'db.client.connection.state': 'used' });
    report(pool.idleCount, { ...primary, 'db.client.connection.state': 'idle' });
  });
  const bounds = { unit: '{connection}', description: 'Connections that a pool has at most.' };
  observe('db.client.connection.max', bounds, (report) => report(pool.options.max, primary));
  const requests = { unit: '{request}', description: 'Requests that wait for a connection of a pool.' };
  observe('db.client.connection.pending_requests', requests, (report) => report(pool.waitingCount, primary));
}
