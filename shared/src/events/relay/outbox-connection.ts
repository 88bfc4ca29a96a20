// The relay's own connection to the database. It also listens for new rows of the outbox.
import type pg from 'pg';
import { PrimaryClient } from '../../database/index.ts';

export interface OutboxConnectionOptions {
  readonly databaseUrl: string;
  /** The application name of the connection in PostgreSQL. */
  readonly name: string;
  /** Called when a row was added to the outbox. */
  readonly added: () => void;
  /** Called when the connection is lost. */
  readonly lost: () => void;
}

export class OutboxConnection {
  readonly #options: OutboxConnectionOptions;
  #client: pg.Client | undefined;

  constructor(options: OutboxConnectionOptions) {
    this.#options = options;
  }

  /**
   * Returns the open connection, or a new one after a loss.
   * @throws the driver's error when the database is unavailable
   */
  async open(): Promise<pg.Client> {
    if (this.#client !== undefined) return this.#client;
    const { databaseUrl, name, added, lost } = this.#options;
    const client = new PrimaryClient({
      connectionString: databaseUrl,
      application_name: name,
      connectionTimeoutMillis: 3_000,
      query_timeout: 10_000,
      // If the relay hangs, PostgreSQL aborts its transaction after this time and frees its rows.
      idle_in_transaction_session_timeout: 20_000,
      keepAlive: true,
    });
    const forget = (): void => {
      if (this.#client === client) this.#client = undefined;
      lost();
    };
    client.on('error', forget);
    client.on('end', forget);
    client.on('notification', added);
    try {
      await client.connect();
      await client.query(`DO $$ BEGIN EXECUTE format('LISTEN %I', 'outbox:' || current_schema()); END $$`);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    this.#client = client;
    return client;
  }

  /** Closes the connection without waiting. PostgreSQL then rolls back its transaction. */
  abandon(): void {
    const client = this.#client;
    this.#client = undefined;
    client?.end().catch(() => {});
  }

  async close(): Promise<void> {
    await this.#client?.end().catch(() => {});
  }
}
