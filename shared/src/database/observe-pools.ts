// How the connections to the database are used, by the conventions for database clients.
import type pg from 'pg';
import type { Sequelize } from 'sequelize';
import { observe } from '../telemetry/index.ts';

/** What sequelize keeps its connections in; its types do not tell. */
interface SequelizePool {
  readonly size: number;
  readonly available: number;
  readonly waiting: number;
  readonly maxSize: number;
}

/** Tells of both pools whenever somebody reads the metrics. */
export function observePools(sequelize: Sequelize, pool: pg.Pool): void {
  const pools = () => {
    const { size, available, waiting, maxSize } = (
      sequelize as unknown as { connectionManager: { pool: SequelizePool } }
    ).connectionManager.pool;
    return [
      { name: 'transactions', used: size - available, idle: available, waiting, most: maxSize },
      {
        name: 'reads',
        used: pool.totalCount - pool.idleCount,
        idle: pool.idleCount,
        waiting: pool.waitingCount,
        most: pool.options.max,
      },
    ];
  };
  const connections = { unit: '{connection}', description: 'Connections of a pool, by whether they are in use.' };
  observe('db.client.connection.count', connections, (tell) => {
    for (const { name, used, idle } of pools()) {
      tell(used, { 'db.client.connection.pool.name': name, 'db.client.connection.state': 'used' });
      tell(idle, { 'db.client.connection.pool.name': name, 'db.client.connection.state': 'idle' });
    }
  });
  const bounds = { unit: '{connection}', description: 'Connections that a pool has at most.' };
  observe('db.client.connection.max', bounds, (tell) => {
    for (const { name, most } of pools()) tell(most, { 'db.client.connection.pool.name': name });
  });
  const requests = { unit: '{request}', description: 'What waits for a connection of a pool.' };
  observe('db.client.connection.pending_requests', requests, (tell) => {
    for (const { name, waiting } of pools()) tell(waiting, { 'db.client.connection.pool.name': name });
  });
}
