// Publishes the outbox: claims unpublished rows, hands them to the broker, marks what it confirmed, all in one transaction,
// so that the rows of a relay that dies are free at once. Any number of relays may run.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { isDatabaseUnavailable } from '../database/index.ts';
import { type Log, type Pause, startPause } from '../runtime/index.ts';
import { type StoredEvent, toCloudEvent } from './event.ts';
import { beginMeasuring, measureBatch } from './relay-metrics.ts';
import { BrokerUnavailableError, type Outcome, type Transport } from './transport.ts';

export interface RelayOptions {
  /** Connection string of the service's role; the relay has a connection of its own. */
  readonly databaseUrl: string;
  readonly transport: Transport;
  /** CloudEvents source, such as `/orders`. */
  readonly source: string;
  readonly log: Log;
  /** Rows published at once; default 500. */
  readonly batchSize?: number;
  /** Looks for rows this often even when no NOTIFY came, in milliseconds; default 1000. */
  readonly pollInterval?: number;
}

export interface Relay {
  /** Stops after the batch in work. */
  close(): Promise<void>;
}

/** Locked, shared, by each relay of a schema from its claim until its marks are committed. */
export const batchInWork = "hashtextextended('outbox:' || current_schema(), 0)";

/** What the age of an unpublished row is counted from; what no queue takes stays as old as it is, however often it is put off. */
export const waitingSince = 'CASE WHEN problem IS NULL THEN next_attempt_at ELSE created_at END';

/** Seconds that an event may wait in the outbox before something is wrong with the relay or the broker. */
export const longestLag = 30;

const claim = `
  SELECT id, type, subject, sequence, request_id AS "requestId", traceparent, created_at AS "createdAt", data::text AS data
  FROM outbox
  WHERE published_at IS NULL AND next_attempt_at <= now()
  ORDER BY next_attempt_at, id
  LIMIT $1
  FOR UPDATE SKIP LOCKED`;

const markPublished =
  'UPDATE outbox SET published_at = clock_timestamp(), attempts = attempts + 1, problem = NULL WHERE id = ANY ($1::uuid[])';

const putOff = `
  UPDATE outbox
  SET attempts = attempts + 1,
      next_attempt_at = clock_timestamp() + least(power(2, least(attempts, 10)), 8) * interval '1 second',
      problem = 'no queue takes it'
  WHERE id = ANY ($1::uuid[])`;

/** Pause after a batch, so that what is committed meanwhile goes together; the first event after a quiet time does not wait. */
const gather = 25;
const longestPause = 2_000;

/** For the log: why a broker or database is away is a line, anything else is worth its stack. */
function awayReason(error: unknown): object {
  return error instanceof BrokerUnavailableError || isDatabaseUnavailable(error)
    ? { reason: String(error) }
    : { err: error };
}

/** Starts a relay. It survives the loss of the database and of the broker, and goes on by itself. */
export function startRelay(options: RelayOptions): Relay {
  const { transport, log, source } = options;
  const batchSize = options.batchSize ?? 500;
  const pollInterval = options.pollInterval ?? 1_000;
  const stop = new AbortController();
  beginMeasuring();
  let woken = false;
  let resting: Pause | undefined;
  let client: pg.Client | undefined;

  const connected = async (): Promise<pg.Client> => {
    if (client !== undefined) return client;
    const next = new pg.Client({
      connectionString: options.databaseUrl,
      application_name: `relay ${source}`,
      connectionTimeoutMillis: 3_000,
      query_timeout: 10_000,
      // A relay that hangs frees its rows after this time.
      idle_in_transaction_session_timeout: 20_000,
      keepAlive: true,
    });
    const lose = () => {
      if (client === next) client = undefined;
      resting?.end();
    };
    next.on('error', lose);
    next.on('end', lose);
    next.on('notification', () => {
      woken = true;
      resting?.end();
    });
    try {
      await next.connect();
      await next.query(`DO $$ BEGIN EXECUTE format('LISTEN %I', 'outbox:' || current_schema()); END $$`);
    } catch (error) {
      await next.end().catch(() => {});
      throw error;
    }
    client = next;
    return next;
  };

  const giveUp = (lost: pg.Client): void => {
    if (client === lost) client = undefined;
    lost.end().catch(() => {});
  };

  /** How many rows were claimed, and whether something kept the broker from taking them all. */
  const relayBatch = async (to: pg.Client): Promise<{ claimed: number; stuck: boolean }> => {
    await to.query(`BEGIN; SELECT pg_advisory_xact_lock_shared(${batchInWork})`);
    try {
      const { rows } = await to.query<StoredEvent>({ name: 'claim', text: claim, values: [batchSize] });
      if (rows.length === 0) {
        await to.query('COMMIT');
        return { claimed: 0, stuck: false };
      }
      const outcomes = await publish(rows);
      const ids = (wanted: Outcome) => rows.filter((_, index) => outcomes[index] === wanted).map(({ id }) => id);
      const unroutable = ids('unroutable');
      await to.query(markPublished, [ids('confirmed')]);
      if (unroutable.length > 0) {
        log.warn({ events: unroutable.length }, 'events that no queue takes are kept');
        await to.query(putOff, [unroutable]);
      }
      await to.query('COMMIT');
      return { claimed: rows.length, stuck: ids('unknown').length > 0 };
    } catch (error) {
      if (error instanceof BrokerUnavailableError) await to.query('ROLLBACK').catch(() => giveUp(to));
      throw error;
    }
  };

  const publish = async (rows: readonly StoredEvent[]): Promise<readonly Outcome[]> => {
    const batch = measureBatch(rows);
    let outcomes: readonly Outcome[] | undefined;
    try {
      outcomes = await transport.publish(
        batch.rows.map((row) => ({ id: row.id, type: row.type, content: toCloudEvent(source, row) })),
      );
      return outcomes;
    } finally {
      batch.end(outcomes);
    }
  };

  const pause = async (milliseconds: number): Promise<void> => {
    if (woken || stop.signal.aborted) return;
    resting = startPause(milliseconds);
    await resting.over;
  };

  const run = async (): Promise<void> => {
    let failures = 0;
    while (!stop.signal.aborted) {
      try {
        const to = await connected();
        woken = false;
        const { claimed, stuck } = await relayBatch(to);
        if (stuck) throw new BrokerUnavailableError('the broker did not confirm every event');
        if (failures > 0) log.info('events are published again');
        failures = 0;
        if (claimed > 0 && claimed < batchSize) await sleep(gather);
        if (claimed < batchSize) await pause(pollInterval);
      } catch (error) {
        failures += 1;
        // A connection that failed, or answers no more, would hold every later batch up as well; its end rolls back too.
        if (client !== undefined && !(error instanceof BrokerUnavailableError)) giveUp(client);
        log.warn(awayReason(error), 'events wait in the outbox');
        // Not cut short by new events: they would only meet the same trouble.
        const delay = Math.min(50 * 2 ** failures, longestPause) * (0.5 + Math.random() / 2);
        await sleep(delay, undefined, { signal: stop.signal }).catch(() => {});
      }
    }
    await client?.end().catch(() => {});
  };

  const running = run();
  return {
    async close() {
      stop.abort();
      resting?.end();
      await running;
    },
  };
}
