// Sequelize for the models of accounts. It sends its queries to the service's pool and opens no connections of its own.
import type { Transaction } from '@shop/shared/database';
import pg from 'pg';
import { Sequelize, Transaction as SequelizeTransaction } from 'sequelize';

/**
 * The part of sequelize's connection manager that provides what runs queries outside a transaction. Its types do not
 * include it.
 */
interface ConnectionManager {
  getConnection(): pg.Pool;
  releaseConnection(): void;
}

/** Returns the instance on which models are defined. */
export function connectModels(pool: pg.Pool): Sequelize {
  const sequelize = new Sequelize({ dialect: 'postgres', dialectModule: pg, logging: false });
  const { connectionManager } = sequelize as unknown as { connectionManager: ConnectionManager };
  // The pool takes a connection for each query, and closes it after an error: sequelize would use it again although it
  // may still wait for the response.
  connectionManager.getConnection = () => pool;
  connectionManager.releaseConnection = () => {};
  return sequelize;
}

/**
 * Returns the options that run a model's query in the transaction and lock its row until the transaction ends.
 * Sequelize's queries use only two members of a transaction: `connection` and `finished`.
 */
export function inTransaction(tx: Transaction, lock?: 'UPDATE' | 'SHARE') {
  const transaction = tx as unknown as SequelizeTransaction;
  return lock === undefined ? { transaction } : { transaction, lock: SequelizeTransaction.LOCK[lock] };
}
