// The connection on which PostgreSQL delivers the changes of products, in the order of their commits. It verifies
// several times a second that no notification is missing.
import { PrimaryClient } from '@shop/shared/database';
import { type Log, newId, startRepeating, toReason } from '@shop/shared/runtime';
import type pg from 'pg';

export interface ChangeFeedOptions {
  readonly databaseUrl: string;
  /** The name of the connection in PostgreSQL's views. */
  readonly name: string;
  /** Milliseconds without a successful check after which the feed is not current. */
  readonly longestSilence: number;
  readonly log: Log;
  /** Called for each change that was committed while the feed was open. */
  readonly changed: (payload: string) => void;
  /** Called when the connection is lost. Until the next successful check, changes may be missed. */
  readonly missed: () => void;
}

const proofEvery = 250;
const proof = 'proof ';

/**
 * A notification that the connection sends to itself arrives after those of all transactions that committed before.
 * PostgreSQL delivers a notification once the changes of its transaction are visible.
 */
export class ChangeFeed {
  readonly #options: ChangeFeedOptions;
  readonly #stop: () => Promise<void>;
  #client: pg.Client | undefined;
  /** The last notification of the connection to itself that has not arrived yet. */
  #pending: { readonly token: string; readonly at: number } | undefined;
  /** Every change that was committed before this time (on the clock of `performance.now()`) has arrived. */
  #provenAt = Number.NEGATIVE_INFINITY;
  #reason = '';

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
    this.#stop = startRepeating(
      proofEvery,
      () => this.#prove(),
      (error) => this.#lose(error),
    );
  }

  /** Whether all changes that were committed at least `longestSilence` ago have arrived. */
  get current(): boolean {
    return performance.now() - this.#provenAt <= this.#options.longestSilence;
  }

  async close(): Promise<void> {
    await this.#stop();
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  /**
   * Sends a notification to itself on the present connection, or on a new one after a loss.
   * @throws when the last one has not arrived in time
   */
  async #prove(): Promise<void> {
    if (this.#pending !== undefined) {
      if (performance.now() - this.#pending.at < this.#options.longestSilence) return;
      throw new Error('notifications do not arrive');
    }
    if (this.#client === undefined) this.#client = await this.#connect();
    const client = this.#client;
    const token = `${proof}${newId()}`;
    this.#pending = { token, at: performance.now() };
    await client.query("SELECT pg_notify('products:' || current_schema(), $1)", [token]);
  }

  async #connect(): Promise<pg.Client> {
    const { databaseUrl, name, longestSilence } = this.#options;
    const client = new PrimaryClient({
      connectionString: databaseUrl,
      application_name: name,
      connectionTimeoutMillis: 3_000,
      query_timeout: Math.min(longestSilence, 3_000),
      keepAlive: true,
    });
    const lost = (error?: Error): void => {
      if (this.#client === client) this.#lose(error ?? new Error('the connection was closed'));
    };
    client.on('error', lost);
    client.on('end', () => lost());
    client.on('notification', ({ payload = '' }) => this.#receive(client, payload));
    try {
      await client.connect();
      await client.query(`DO $$ BEGIN EXECUTE format('LISTEN %I', 'products:' || current_schema()); END $$`);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    return client;
  }

  #receive(client: pg.Client, payload: string): void {
    if (!payload.startsWith(proof)) {
      this.#options.changed(payload);
      return;
    }
    if (payload !== this.#pending?.token || this.#client !== client) return;
    if (this.#provenAt === Number.NEGATIVE_INFINITY) this.#options.log.info('pages of products are kept in memory');
    this.#provenAt = this.#pending.at;
    this.#pending = undefined;
    this.#reason = '';
  }

  #lose(error: unknown): void {
    const client = this.#client;
    this.#client = undefined;
    this.#provenAt = Number.NEGATIVE_INFINITY;
    this.#pending = undefined;
    const reason = toReason(error);
    if (reason !== this.#reason) this.#options.log.warn({ reason }, 'no pages of products are kept in memory');
    this.#reason = reason;
    this.#options.missed();
    client?.end().catch(() => {});
  }
}
