// Publishes the outbox. One transaction claims unpublished rows, sends them to the broker and marks the confirmed ones.
// So the rows of a relay that dies are free immediately. Any number of relays may run.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { isDatabaseUnavailable } from '../../database/index.ts';
import { type Log, type Pause, startPause, toReason } from '../../runtime/index.ts';
import { type StoredEvent, toCloudEvent } from '../event.ts';
import { BrokerUnavailableError, type Outcome, type Transport } from '../transport.ts';
import { batchLock, claim, markPublished, reschedule } from './outbox.ts';
import { OutboxConnection } from './outbox-connection.ts';
import { beginMeasuring, measureBatch } from './relay-metrics.ts';

export interface RelayOptions {
  /** The connection string of the service's role. The relay opens its own connection. */
  readonly databaseUrl: string;
  readonly transport: Transport;
  /** The CloudEvents source, such as `/orders`. */
  readonly source: string;
  readonly log: Log;
  /** The maximum number of rows that one batch publishes; default 500. */
  readonly batchSize?: number;
  /** Milliseconds between two reads of the outbox when no NOTIFY arrives; default 1000. */
  readonly pollInterval?: number;
}

export interface Relay {
  /** Stops the relay after the batch in progress. */
  close(): Promise<void>;
}

/**
 * Milliseconds to pause after a batch, so that events that arrive meanwhile are sent in one batch. The first event
 * after an idle time does not wait.
 */
const batchDelay = 60;
const longestDelay = 2_000;

/** Starts a relay. It survives the loss of the database and of the broker, and continues without help. */
export function startRelay(options: RelayOptions): Relay {
  beginMeasuring();
  return new OutboxRelay(options);
}

class OutboxRelay implements Relay {
  readonly #transport: Transport;
  readonly #source: string;
  readonly #log: Log;
  readonly #batchSize: number;
  readonly #pollInterval: number;
  readonly #connection: OutboxConnection;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  /** Whether rows were added since the last claim began. */
  #added = false;
  #pause: Pause | undefined;

  constructor({ databaseUrl, transport, source, log, batchSize = 500, pollInterval = 1_000 }: RelayOptions) {
    this.#transport = transport;
    this.#source = source;
    this.#log = log;
    this.#batchSize = batchSize;
    this.#pollInterval = pollInterval;
    this.#connection = new OutboxConnection({
      databaseUrl,
      name: `relay ${source}`,
      added: () => {
        this.#added = true;
        this.#pause?.end();
      },
      lost: () => this.#pause?.end(),
    });
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#pause?.end();
    await this.#running;
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#stop.signal.aborted) {
      try {
        const claimed = await this.#publishBatch();
        if (failures > 0) this.#log.info('events are published again');
        failures = 0;
        if (claimed > 0 && claimed < this.#batchSize) await sleep(batchDelay);
        if (claimed < this.#batchSize) await this.#waitForRows();
      } catch (error) {
        failures += 1;
        // The connection is closed, because a failed or hanging one would block every later batch.
        if (!(error instanceof BrokerUnavailableError)) this.#connection.abandon();
        this.#log.warn(unavailableOrUnexpected(error), 'events wait in the outbox');
        // New events do not shorten this pause, because they would fail for the same reason.
        const delay = Math.min(50 * 2 ** failures, longestDelay) * (0.5 + Math.random() / 2);
        await sleep(delay, undefined, { signal: this.#stop.signal }).catch(() => {});
      }
    }
    await this.#connection.close();
  }

  async #waitForRows(): Promise<void> {
    if (this.#added || this.#stop.signal.aborted) return;
    this.#pause = startPause(this.#pollInterval);
    await this.#pause.over;
  }

  /** Returns the number of claimed rows. @throws BrokerUnavailableError when the broker did not confirm all of them */
  async #publishBatch(): Promise<number> {
    const client = await this.#connection.open();
    this.#added = false;
    await client.query(`BEGIN; SELECT pg_advisory_xact_lock_shared(${batchLock})`);
    const { rows } = await client.query<StoredEvent>({ name: 'claim', text: claim, values: [this.#batchSize] });
    const outcomes = rows.length === 0 ? [] : await this.#send(client, rows);
    if (rows.length > 0) await this.#mark(client, rows, outcomes);
    await client.query('COMMIT');
    if (outcomes.includes('unknown')) throw new BrokerUnavailableError('the broker did not confirm every event');
    return rows.length;
  }

  /** @throws BrokerUnavailableError after ROLLBACK when the broker is unavailable */
  async #send(client: pg.Client, rows: readonly StoredEvent[]): Promise<readonly Outcome[]> {
    const batch = measureBatch(rows);
    let outcomes: readonly Outcome[] | undefined;
    try {
      outcomes = await this.#transport.publish(
        batch.rows.map((row) => ({ id: row.id, type: row.type, content: toCloudEvent(this.#source, row) })),
      );
      return outcomes;
    } catch (error) {
      if (error instanceof BrokerUnavailableError) await this.#rollBack(client);
      throw error;
    } finally {
      batch.end(outcomes);
    }
  }

  async #mark(client: pg.Client, rows: readonly StoredEvent[], outcomes: readonly Outcome[]): Promise<void> {
    const ids = (wanted: Outcome) => rows.filter((_, index) => outcomes[index] === wanted).map(({ id }) => id);
    await client.query(markPublished, [ids('confirmed')]);
    const unroutable = ids('unroutable');
    if (unroutable.length === 0) return;
    this.#log.warn({ events: unroutable.length }, 'events that no queue accepts stay in the outbox');
    await client.query(reschedule, [unroutable]);
  }

  async #rollBack(client: pg.Client): Promise<void> {
    await client.query('ROLLBACK').catch(() => this.#connection.abandon());
  }
}

/**
 * Returns the members of a log line: a reason when the broker or the database is unavailable, otherwise the error with
 * its stack.
 */
function unavailableOrUnexpected(error: unknown): object {
  return error instanceof BrokerUnavailableError || isDatabaseUnavailable(error)
    ? { reason: toReason(error) }
    : { err: error };
}
