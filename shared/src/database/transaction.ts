// A transaction on one connection of the service's pool.
import type pg from 'pg';
import { spoilsConnection } from './pg-errors.ts';

/** An open transaction. Every statement that belongs to it takes it as an argument. */
export class Transaction {
  readonly connection: pg.PoolClient;
  #finished: 'commit' | 'rollback' | undefined;
  readonly #afterCommit: (() => void)[] = [];

  constructor(connection: pg.PoolClient) {
    this.connection = connection;
  }

  /** Set as soon as COMMIT or ROLLBACK is sent, because a later statement would run outside the transaction. */
  get finished(): 'commit' | 'rollback' | undefined {
    return this.#finished;
  }

  /** Calls the listener once the transaction has committed. */
  afterCommit(listener: () => void): void {
    this.#afterCommit.push(listener);
  }

  async commit(): Promise<void> {
    this.#finished = 'commit';
    const { command } = await this.connection.query('COMMIT');
    // PostgreSQL responds to COMMIT with ROLLBACK when an earlier statement failed and the error was caught.
    if (command !== 'COMMIT') throw new Error('PostgreSQL rolled back a transaction in which a statement had failed');
    for (const listener of this.#afterCommit) listener();
  }

  /** Returns whether the connection can be used again. */
  async rollBack(): Promise<boolean> {
    this.#finished = 'rollback';
    return this.connection.query('ROLLBACK').then(
      () => true,
      () => false,
    );
  }
}

/**
 * Runs `work` in a transaction (READ COMMITTED) on a connection of the pool, and commits.
 * @throws what `work` throws, after ROLLBACK; the error of COMMIT
 */
export async function inTransaction<T>(pool: pg.Pool, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const connection = await pool.connect();
  const tx = new Transaction(connection);
  let usable = true;
  try {
    await connection.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    const result = await work(tx);
    await tx.commit();
    return result;
  } catch (error) {
    usable = !spoilsConnection(error) && (await tx.rollBack());
    throw error;
  } finally {
    // The pool closes a connection that is not usable. PostgreSQL then rolls back by itself.
    connection.release(!usable);
  }
}
