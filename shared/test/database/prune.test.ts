// Pruning deletes all expired rows, in any number, and no other rows. These tests run on a real PostgreSQL.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { connectDatabase, type Database, type Expiry, prune, sql, startPruning } from '@shop/shared/database';
import { expiredEvents } from '@shop/shared/events';
import { expiredResponses } from '@shop/shared/http';
import { createLog } from '@shop/shared/runtime';
import { createTestDatabase, eventually, type TestDatabase } from '@shop/shared/testing';

const log = createLog('test', 'silent');
const backlog = 12_000; // more than two batches of 5,000
let test: TestDatabase;
let database: Database;

beforeAll(async () => {
  test = await createTestDatabase(['notifications']);
  database = connectDatabase({ url: test.urls.notifications, name: 'test', log });
});
afterAll(async () => {
  await database.close();
  await test.drop();
});

const query = (text: string) => database.pool.query(text);
const keys = async (where = 'true'): Promise<number> =>
  (await query(`SELECT count(*)::int AS n FROM idempotency_keys WHERE ${where}`)).rows[0].n;

describe('prune', () => {
  /** Adds rows, the oldest first. The last expired row is one second past its period. */
  beforeEach(async () => {
    await query(`
      TRUNCATE idempotency_keys;
      INSERT INTO idempotency_keys (account_id, operation_id, key, fingerprint, status, headers, created_at)
      SELECT 'a', 'o', n, 'x', 201, '{}', now() - interval '24 hours' - (${backlog} - n + 1) * interval '1 second'
      FROM generate_series(1, ${backlog}) AS n;
      INSERT INTO idempotency_keys (account_id, operation_id, key, fingerprint, status, headers, created_at)
      VALUES ('a', 'o', 'young', 'x', 201, '{}', now() - interval '23 hours')`);
  });

  it('prune() deletes a backlog of more than one batch in one round, and nothing else', async () => {
    expect(await prune(database.pool, expiredResponses)).toBe(backlog);
    expect(await keys()).toBe(1);
    expect(await keys("key = 'young'")).toBe(1);
    expect(await prune(database.pool, expiredResponses)).toBe(0);
  });

  it('prune() does not undo earlier deletions when a later batch fails, and deletes the remaining rows the next time', async () => {
    await query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not this one'; END $$;
      CREATE TRIGGER refuse BEFORE DELETE ON idempotency_keys FOR EACH ROW WHEN (OLD.key = '11000')
        EXECUTE FUNCTION refuse()`);
    await expect(prune(database.pool, expiredResponses)).rejects.toThrow('not this one');
    await query('DROP TRIGGER refuse ON idempotency_keys; DROP FUNCTION refuse()');
    expect(await keys()).toBe(backlog - 10_000 + 1);
    expect(await prune(database.pool, expiredResponses)).toBe(backlog - 10_000);
  });

  it('prune() skips rows that another transaction has locked, and does not wait', async () => {
    await database.transaction(async (tx) => {
      await sql(tx, "SELECT FROM idempotency_keys WHERE key = '1' FOR UPDATE");
      expect(await prune(database.pool, expiredResponses)).toBe(backlog - 1);
    });
    expect(await prune(database.pool, expiredResponses)).toBe(1);
  });

  it('each row is deleted once when several processes prune', async () => {
    const deleted = await Promise.all([1, 2, 3].map(() => prune(database.pool, expiredResponses)));
    expect(deleted.reduce((sum, each) => sum + each, 0)).toBe(backlog);
    expect(await keys()).toBe(1);
  });

  it('prune() starts immediately, and stops after the batch in progress', async () => {
    await startPruning(database.pool, [expiredResponses], log)();
    expect(await keys()).toBe(backlog - 5_000 + 1);
  });

  it('prune() prunes the other tables when one fails', async () => {
    const missing: Expiry = { table: 'missing', since: 'created_at', hours: 1 };
    const stop = startPruning(database.pool, [missing, expiredResponses], log);
    await eventually(async () => expect(await keys()).toBe(1));
    await stop();
  });
});

it('pruning does not delete unpublished events and recently published or handled ones', async () => {
  await query(`
    INSERT INTO outbox (id, type, subject, sequence, request_id, data, created_at, published_at)
    SELECT gen_random_uuid(), type, 's', 1, 'r', '{}', now() - interval '100 hours', now() - hours * interval '1 hour'
    FROM (VALUES ('old', 73), ('new', 71), ('unpublished', NULL)) AS event (type, hours);
    INSERT INTO inbox (consumer, event_id, type, subject, request_id, attempt, taken_at)
    SELECT 'c', gen_random_uuid(), type, 's', 'r', 1, now() - hours * interval '1 hour'
    FROM (VALUES ('old', 721), ('new', 719)) AS event (type, hours)`);
  for (const expiry of expiredEvents) expect(await prune(database.pool, expiry)).toBe(1);
  expect((await query('SELECT type FROM outbox ORDER BY type')).rows).toEqual([
    { type: 'new' },
    { type: 'unpublished' },
  ]);
  expect((await query('SELECT type FROM inbox')).rows).toEqual([{ type: 'new' }]);
});

it.each([expiredResponses, ...expiredEvents])('an index finds the expired rows of $table', async ({ table, since }) => {
  const { rows } = await database.pool.query(
    `SELECT FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
     WHERE indrelid = $1::regclass AND attname = $2`,
    [table, since],
  );
  expect(rows).toHaveLength(1);
});
