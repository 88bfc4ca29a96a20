// A handler of several events in one transaction. The test makes the deliveries itself, so that they arrive together.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { sql } from '../../src/database/index.ts';
import { toCloudEvent } from '../../src/events/event.ts';
import { type ConsumeOptions, consume, PoisonError } from '../../src/events/index.ts';
import type { Subscription, Verdict } from '../../src/events/transport.ts';
import { newId } from '../../src/runtime/index.ts';
import { eventually, lockWaits } from '../../src/testing/index.ts';
import { log, startEventsFor, type TestEvents } from './brokers.ts';
import { eventType, shipped, startStore, type TestStore } from './service.ts';

let events: TestEvents;
let store: TestStore;
let subscription: Subscription;
let stop: () => Promise<void>;
/** The ids that the handler received, by transaction. */
const handled: string[][] = [];
/** Events that make the handler fail. */
const unfit = new Map<string, Error>();

beforeAll(async () => {
  [events, store] = await Promise.all([startEventsFor('pg-boss'), startStore()]);
  await store.database.pool.query('CREATE TABLE effects (event_id uuid NOT NULL)');
  const transport = await events.open({ consumers: { together: [eventType] }, retries: 2, retryDelay: 1 });
  const byHand: ConsumeOptions['transport'] = {
    ...transport,
    async subscribe(given) {
      subscription = given;
      return async () => {};
    },
  };
  stop = await consume({
    name: 'together',
    transport: byHand,
    database: store.database,
    log,
    handlers: {
      [eventType]: {
        async handleAll(taken, tx) {
          const ids = taken.map(({ id }) => id);
          handled.push(ids);
          await sql(tx, 'INSERT INTO effects SELECT unnest($1::uuid[])', [ids]);
          const error = ids.map((id) => unfit.get(id)).find((found) => found !== undefined);
          if (error !== undefined) throw error;
        },
      },
    },
  });
});

beforeEach(async () => {
  handled.length = 0;
  await store.database.pool.query('TRUNCATE effects, inbox');
});

afterAll(async () => {
  await stop?.();
  await events?.close();
  await store?.close();
});

const contentOf = (id: string): string => {
  const event = shipped();
  const stored = { ...event, id, previousSequence: null, createdAt: new Date(), data: JSON.stringify(event.data) };
  return toCloudEvent('/test', stored);
};
const deliver = (id: string): Promise<Verdict> => subscription.handle({ content: contentOf(id), attempt: 1 });
const idsIn = async (statement: string) =>
  (await store.database.pool.query<{ id: string }>(statement)).rows.map(({ id }) => id);
const effects = () => idsIn('SELECT event_id AS id FROM effects ORDER BY 1');
const inbox = () => idsIn('SELECT event_id AS id FROM inbox ORDER BY 1');
const done = { kind: 'done' };

describe('events that are handled together', () => {
  it('events that are handled together take effect once in one transaction, also when one is among them twice', async () => {
    const [a, b, c] = [newId(), newId(), newId()];
    expect(await Promise.all([deliver(a), deliver(b), deliver(a)])).toEqual([done, done, done]);
    expect(handled).toHaveLength(1);
    expect(await effects()).toEqual([a, b]);
    expect(await Promise.all([deliver(b), deliver(c), deliver(a)])).toEqual([done, done, done]);
    expect(handled[1]).toEqual([c]);
    expect(await Promise.all([deliver(c), deliver(b)])).toEqual([done, done]);
    expect(handled).toHaveLength(2); // nothing was left to do
    expect(await effects()).toEqual([a, b, c]);
    expect(await inbox()).toEqual([a, b, c]);
  });

  it('events that are handled together take effect without one that cannot be handled', async () => {
    const [a, poison, failing, d] = [newId(), newId(), newId(), newId()];
    unfit.set(poison, new PoisonError('never'));
    unfit.set(failing, new Error('not this time'));
    expect(await Promise.all([deliver(a), deliver(poison), deliver(failing), deliver(d)])).toEqual([
      done,
      { kind: 'dead', reason: 'PoisonError: never' },
      { kind: 'failed', reason: 'Error: not this time' },
      done,
    ]);
    const [together, ...alone] = handled;
    expect(together).toEqual([a, poison, failing, d]);
    // Each event was handled in a separate transaction, concurrently.
    expect(alone.toSorted()).toEqual([[a], [poison], [failing], [d]]);
    expect(await effects()).toEqual([a, d]);
    expect(await inbox()).toEqual([a, d]);
  });

  it('a consumer enters events in the inbox in the order of their ids, so that two consumers cannot deadlock', async () => {
    const [low, high] = [newId(), newId()];
    const other = new pg.Client({ connectionString: store.url });
    other.on('error', () => {});
    await other.connect();
    const enter = (id: string) =>
      other.query(
        `INSERT INTO inbox (consumer, event_id, type, subject, request_id, attempt)
         VALUES ('together', $1, 'a type', 'a subject', 'a request', 1)`,
        [id],
      );
    try {
      await other.query('BEGIN');
      await enter(low);
      const verdicts = Promise.all([deliver(high), deliver(low)]);
      await eventually(async () => expect(await lockWaits(store.database.pool)).toBe(1));
      await other.query("SET LOCAL lock_timeout = '1ms'"); // any wait is one too many
      await enter(high);
      await other.query('COMMIT');
      expect(await verdicts).toEqual([done, done]);
      expect(handled).toEqual([]);
    } finally {
      await other.end();
    }
  });
});
