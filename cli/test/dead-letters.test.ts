// Tests that all dead letters are resolved, also when there are more than one read returns. A message that fails again
// meanwhile is left.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DeadLetterStore, openDeadLetters } from '@shop/shared/events';
import { createLog, newId } from '@shop/shared/runtime';
import { createTestDatabase, type TestDatabase } from '@shop/shared/testing';
import pg from 'pg';
import { resolveDeadLetters } from '../src/shop/dead-letters.ts';

let database: TestDatabase;
let desk: DeadLetterStore;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase([]);
  desk = await openDeadLetters({ url: database.urls.events, log: createLog('test', 'silent') });
  pool = new pg.Pool({ connectionString: database.urls.events, max: 1 });
  pool.on('error', () => {}); // its database may be dropped before its last connection has closed
});

afterAll(async () => {
  await desk.close();
  await pool.end();
  await database.drop();
});

/** Adds dead letters as a consumer does. @returns their ids */
async function giveUp(consumer: string, count: number, ids = Array.from({ length: count }, newId)): Promise<string[]> {
  await pool.query(
    `INSERT INTO events.job_common (name, data)
     SELECT $1, json_build_object('eventId', id, 'content', '{}') FROM unnest($2::text[]) AS id`,
    [`${consumer}.dead`, ids],
  );
  return ids;
}

const idsOf = (letters: readonly { id: string }[]): string[] => letters.map(({ id }) => id).sort();

describe('all dead letters', () => {
  it.each(['replay', 'discard'] as const)(
    'resolving all dead letters includes every consumer and more letters than one read returns: %s',
    async (verb) => {
      const given = [...(await giveUp('notifications.mail', 5)), ...(await giveUp('orders.effects', 1))];
      const { resolved, unknown } = await resolveDeadLetters(desk, { verb, ids: undefined, perRead: 2 });
      expect(idsOf(resolved)).toEqual(given.sort());
      expect(unknown).toEqual([]);
      expect(await desk.list()).toEqual([]);
    },
  );

  it('each dead letter is resolved once, and letters that return immediately are skipped', async () => {
    const given = await giveUp('notifications.mail', 3);
    const returning: DeadLetterStore = {
      ...desk,
      async replay(id, consumer) {
        const found = await desk.replay(id, consumer);
        await giveUp('notifications.mail', 1, [id]);
        return found;
      },
    };
    const { resolved } = await resolveDeadLetters(returning, { verb: 'replay', ids: undefined, perRead: 2 });
    expect(idsOf(resolved)).toEqual([...given].sort());
    expect(idsOf(await desk.list())).toEqual([...given].sort());
    await resolveDeadLetters(desk, { verb: 'discard', ids: undefined, perRead: 10 });
  });
});

describe('named dead letters', () => {
  it('resolving named dead letters resolves only these, and reports an unknown id', async () => {
    const given = await giveUp('notifications.mail', 3);
    const last = (await desk.list()).at(-1)?.id ?? '';
    const unknown = newId();
    expect(await resolveDeadLetters(desk, { verb: 'discard', ids: [last, unknown], perRead: 3 })).toEqual({
      resolved: [{ consumer: 'notifications.mail', id: last }],
      unknown: [unknown],
    });
    expect(idsOf(await desk.list())).toEqual(given.filter((id) => id !== last).sort());
  });
});
