// The connection to pg-boss. It is opened in the background until the database responds; pg-boss itself recovers from
// later losses.

import { PgBoss } from 'pg-boss';
import { withClient } from '../../database/index.ts';
import { toReason } from '../../runtime/index.ts';
import { BrokerUnavailableError, type Subscription, type TransportOptions, usualConnectTimeout } from '../transport.ts';
import { startWork } from './consumer.ts';
import { declareQueues } from './queues.ts';

export interface PgBossOptions extends TransportOptions {
  /** The schema of pg-boss. */
  readonly namespace: string;
}

const superviseSeconds = 2;

/**
 * Without these options, the process does not detect that the server of a connection has disappeared. pg-boss passes
 * all options to the driver; its type names only some of them.
 */
const lossIsNoticed: object = { query_timeout: 10_000, keepAlive: true };

export class Connection {
  readonly #options: PgBossOptions;
  readonly #subscriptions = new Set<Subscription>();
  readonly #connecting: Promise<void>;
  #boss: PgBoss | undefined;
  #failure = 'not connected yet';
  #closing = false;

  constructor(options: PgBossOptions) {
    this.#options = options;
    this.#connecting = this.#connect();
  }

  /** Resolves when PostgreSQL was reached, or after `connectTimeout`. The connection continues to try in both cases. */
  async firstConnect(): Promise<void> {
    const { connectTimeout = usualConnectTimeout } = this.#options;
    await Promise.race([this.#connecting, new Promise((resolve) => setTimeout(resolve, connectTimeout).unref())]);
  }

  /** @throws BrokerUnavailableError while the database was never reached */
  boss(): PgBoss {
    if (this.#boss === undefined)
      throw new BrokerUnavailableError(`the events database is unavailable: ${this.#failure}`);
    return this.#boss;
  }

  /** Starts a consumer now, or once the database is reached. */
  async subscribe(subscription: Subscription): Promise<void> {
    this.#subscriptions.add(subscription);
    if (this.#boss !== undefined) await startWork(this.#boss, this.#options.topology, subscription);
  }

  /** Stops a consumer and waits for its jobs in progress. */
  async unsubscribe(subscription: Subscription): Promise<void> {
    this.#subscriptions.delete(subscription);
    await this.#boss?.offWork(subscription.consumer);
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#connecting;
    await this.#boss?.stop({ graceful: true, timeout: 5_000 });
  }

  async #connect(): Promise<void> {
    const { topology, log } = this.#options;
    for (let delay = 100; !this.#closing; delay = Math.min(delay * 2, 3_000)) {
      try {
        const boss = await this.#start();
        for (const subscription of this.#subscriptions) await startWork(boss, topology, subscription);
        this.#boss = boss;
        if (this.#closing) await boss.stop({ graceful: false });
        return;
      } catch (error) {
        this.#failure = toReason(error);
        log.warn({ err: error }, 'no connection to the events database');
        await new Promise((resolve) => setTimeout(resolve, delay * (0.5 + Math.random())));
      }
    }
  }

  async #start(): Promise<PgBoss> {
    const { url, name, namespace, topology, log } = this.#options;
    const boss = new PgBoss({
      connectionString: url,
      application_name: name,
      schema: namespace,
      createSchema: !(await hasSchema(this.#options)),
      max: 4,
      connectionTimeoutMillis: 3_000,
      ...lossIsNoticed,
      schedule: false,
      useListenNotify: true,
      supervise: true,
      superviseIntervalSeconds: superviseSeconds,
      monitorIntervalSeconds: superviseSeconds,
      maintenanceIntervalSeconds: 60,
    });
    boss.on('error', (error) => log.warn({ err: error }, 'pg-boss'));
    boss.on('warning', (warning) => log.warn({ warning }, 'pg-boss'));
    try {
      await boss.start();
      await declareQueues(boss, topology);
      return boss;
    } catch (error) {
      await boss.stop({ graceful: false }).catch(() => {});
      throw error;
    }
  }
}

/** Returns whether the schema exists. The role may own its schema and lack the permission to create one. */
async function hasSchema({ url, namespace }: PgBossOptions): Promise<boolean> {
  const { rows } = await withClient({ url, connectWithin: 3_000 }, (client) =>
    client.query<{ found: boolean }>('SELECT to_regnamespace($1) IS NOT NULL AS found', [namespace]),
  );
  return rows[0]?.found === true;
}
