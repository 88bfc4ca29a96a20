// Sequelize for the models of accounts. It uses connections of the service's pool and opens none of its own.
import type { Transaction } from '@shop/shared/database';
import pg from 'pg';
import { Sequelize, Transaction as SequelizeTransaction } from 'sequelize';

/**
 * The part of sequelize's connection manager that provides connections for queries outside a transaction. Its types do
 * not include it.
 */
interface ConnectionManager {
  getConnection(): Promise<pg.PoolClient>;
  releaseConnection(connection: pg.PoolClient): void;
}

/** Returns the instance on which models are defined. */
export function connectModels(pool: pg.Pool): Sequelize {
  const sequelize = new Sequelize({ dialect: 'postgres', dialectModule: pg, logging: false });
  const { connectionManager } = sequelize as unknown as { connectionManager: ConnectionManager };
  connectionManager.getConnection = () => pool.connect();
  connectionManager.releaseConnection = (connection) => connection.release();
  return sequelize;
}

/**
 * The options that run a model's query in the transaction and lock its row until the end. Sequelize's queries use only
 * two members of a transaction: `connection` and `finished`.
 */
export function inside(tx: Transaction, lock?: 'UPDATE' | 'SHARE') {
  const transaction = tx as unknown as SequelizeTransaction;
  return lock === undefined ? { transaction } : { transaction, lock: SequelizeTransaction.LOCK[lock] };
}
