// Transactions and migrations against a real PostgreSQL.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  assertCurrency,
  connectDatabase,
  type Database,
  isDatabaseUnavailable,
  migrate,
  pendingMigrations,
  sql,
  type Transaction,
  violatedConstraint,
} from '@shop/shared/database';
import { createLog } from '@shop/shared/runtime';
import { atThisPace, createTestDatabase, eventually, type TestDatabase } from '@shop/shared/testing';
import { startProxy } from '../events/tcp-proxy.ts';

const log = createLog('test', 'silent');
let testDatabase: TestDatabase;
let database: Database;
let folder: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase([]);
  database = connectDatabase({ url: testDatabase.urls.orders, name: 'test', log });
  folder = mkdtempSync(join(tmpdir(), 'shop-migrations-'));
  writeFileSync(
    join(folder, '0001_things.sql'),
    'CREATE TABLE things (id int PRIMARY KEY, n bigint NOT NULL CONSTRAINT n_positive CHECK (n > 0))',
  );
});
afterAll(async () => {
  await database.close();
  await testDatabase.drop();
  rmSync(folder, { recursive: true });
});

describe('migrate', () => {
  const options = () => ({ url: testDatabase.urls.orders, folder });

  it('each migration is applied once, also when two runs start concurrently', async () => {
    expect(await pendingMigrations(database.pool, folder)).toContain('0001_things.sql');
    const [first, second] = await Promise.all([migrate(options()), migrate(options())]);
    expect([...first, ...second].filter((name) => name === '0001_things.sql')).toHaveLength(1);
    expect(await pendingMigrations(database.pool, folder)).toEqual([]);
    expect(await migrate(options())).toEqual([]);
  });

  it('a migration that fails is rolled back and tried again', async () => {
    writeFileSync(join(folder, '0002_more.sql'), 'CREATE TABLE more (id int); SELECT 1/0;');
    await expect(migrate(options())).rejects.toThrow('division by zero');
    writeFileSync(join(folder, '0002_more.sql'), 'CREATE TABLE more (id int)');
    expect(await migrate(options())).toEqual(['0002_more.sql']);
  });

  it('a migration creates an index that no write waits for, also when two runs start concurrently', async () => {
    const file = join(folder, '0003_index.concurrently.sql');
    const statements = [
      '-- For lists by number.',
      'DROP INDEX CONCURRENTLY IF EXISTS things_n;',
      'CREATE UNIQUE INDEX CONCURRENTLY things_n\n  ON things (n);',
    ];
    writeFileSync(file, statements.join('\n'));
    // An attempt that fails leaves an invalid index, which the next attempt removes.
    await database.pool.query('INSERT INTO things VALUES (1, 7), (2, 7)');
    await expect(migrate(options())).rejects.toThrow('could not create unique index');
    await database.pool.query('DELETE FROM things');
    const [first, second] = await Promise.all([migrate(options()), migrate(options())]);
    expect([...first, ...second]).toEqual(['0003_index.concurrently.sql']);
    const { rows } = await database.pool.query<{ valid: boolean }>(
      "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = 'things_n'::regclass",
    );
    await database.pool.query('DROP INDEX things_n');
    expect(rows).toEqual([{ valid: true }]);
  });

  it('a migration stops waiting for a lock after a second, so that requests pass, and tries again', async () => {
    writeFileSync(join(folder, '0004_column.sql'), 'ALTER TABLE things ADD COLUMN note text');
    const reader = await database.pool.connect();
    let migrating: Promise<string[]>;
    try {
      // A long read, such as that of a backup, holds a lock on the table.
      await reader.query('BEGIN');
      await reader.query('SELECT FROM things');
      migrating = migrate(options());
      const waits: number[] = [];
      for (let count = 0; count < 20; count += 1) {
        const began = performance.now();
        await database.pool.query('SELECT FROM things');
        waits.push(performance.now() - began);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      // The requests waited behind the migration, but not for the end of the read.
      expect(Math.max(...waits)).toBeGreaterThan(300);
      expect(Math.max(...waits)).toBeLessThan(atThisPace(2_500));
      await reader.query('COMMIT');
    } finally {
      reader.release();
    }
    expect(await migrating).toEqual(['0004_column.sql']);
  });

  it('a migration tries again after a deadlock with a transaction', async () => {
    const statements = [
      'DROP INDEX CONCURRENTLY IF EXISTS things_id;',
      'CREATE INDEX CONCURRENTLY things_id ON things (id);',
    ];
    writeFileSync(join(folder, '0005_index.concurrently.sql'), statements.join('\n'));
    const writer = await database.pool.connect();
    let migrating: Promise<string[]>;
    try {
      await writer.query('BEGIN');
      await writer.query('INSERT INTO things VALUES (3, 9)');
      migrating = migrate(options());
      await eventually(async () => {
        const { rows } = await database.pool.query(
          `SELECT FROM pg_stat_activity
           WHERE query LIKE '%CREATE INDEX CONCURRENTLY things_id%' AND wait_event_type = 'Lock'`,
        );
        expect(rows).toHaveLength(1);
      });
      // The migration waits for the writer, and the writer for the migration, which has waited for longer and fails.
      await writer.query('LOCK TABLE things IN SHARE UPDATE EXCLUSIVE MODE');
      await writer.query('COMMIT');
    } finally {
      writer.release();
    }
    expect(await migrating).toEqual(['0005_index.concurrently.sql']);
  });

  it('a migration cannot access the other schemas', async () => {
    await expect(database.pool.query('CREATE TABLE catalogue.x (id int)')).rejects.toThrow(
      'permission denied for schema catalogue',
    );
    await expect(database.pool.query('CREATE TABLE public.x (id int)')).rejects.toThrow(
      'permission denied for schema public',
    );
  });
});

describe('assertCurrency', () => {
  it('assertCurrency rejects another currency than the stored one', async () => {
    await assertCurrency(database.pool, 'EUR');
    await assertCurrency(database.pool, 'EUR');
    await expect(assertCurrency(database.pool, 'JPY')).rejects.toThrow(
      'SHOP_CURRENCY is JPY, but the amounts in the database are in EUR',
    );
  });

  it('assertCurrency stores the decimals in a schema of an earlier version, and rejects others', async () => {
    await database.pool.query('UPDATE shop_currency SET decimals = NULL');
    await assertCurrency(database.pool, 'EUR');
    const { rows } = await database.pool.query('SELECT code, decimals FROM shop_currency');
    expect(rows).toEqual([{ code: 'EUR', decimals: 2 }]);
    await database.pool.query('UPDATE shop_currency SET decimals = 0');
    await expect(assertCurrency(database.pool, 'EUR')).rejects.toThrow(
      `the amounts in the database have 0 decimals, but EUR has 2 in Node ${process.versions.node}`,
    );
    await database.pool.query('UPDATE shop_currency SET decimals = 2');
  });
});

describe('transaction', () => {
  it('a transaction commits the work and returns bigint columns as numbers', async () => {
    const rows = await database.transaction((tx) =>
      sql<{ n: number }>(tx, 'INSERT INTO things VALUES ($1, $2) RETURNING n', [1, 5]),
    );
    expect(rows).toEqual([{ n: 5 }]);
  });

  it('a transaction rolls back when the work throws, and names the constraint', async () => {
    const error: unknown = await database
      .transaction(async (tx) => {
        await sql(tx, 'INSERT INTO things VALUES (2, 1)');
        await sql(tx, 'INSERT INTO things VALUES (3, 0)');
      })
      .catch((thrown: unknown) => thrown);
    expect(violatedConstraint(error)).toBe('n_positive');
    expect((await database.pool.query('SELECT id FROM things WHERE id = 2')).rowCount).toBe(0);
  });

  it('a statement is prepared once, unless it is to be planned each time', async () => {
    const kept = await database.transaction(async (tx) => {
      await sql(tx, 'SELECT id FROM things JOIN unnest($1::int[]) AS kept (wanted) ON id = wanted', [[1, 2]]);
      const options = { planEachTime: true };
      await sql(tx, 'SELECT id FROM things JOIN unnest($1::int[]) AS new (wanted) ON id = wanted', [[1, 2]], options);
      return sql<{ statement: string }>(
        tx,
        "SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%wanted%'",
      );
    });
    expect(kept.map(({ statement }) => statement)).toEqual([expect.stringContaining('AS kept')]);
  });

  it('a transaction retries a deadlock, so that both sides succeed', async () => {
    await database.pool.query('INSERT INTO things VALUES (10, 1), (11, 1)');
    const add = (first: number, second: number) =>
      database.transaction(async (tx) => {
        await sql(tx, 'UPDATE things SET n = n + 1 WHERE id = $1', [first]);
        await sql(tx, 'SELECT pg_sleep(0.1)');
        await sql(tx, 'UPDATE things SET n = n + 1 WHERE id = $1', [second]);
      });
    await Promise.all([add(10, 11), add(11, 10)]);
    const { rows } = await database.pool.query('SELECT n FROM things WHERE id IN (10, 11)');
    expect(rows).toEqual([{ n: 3 }, { n: 3 }]);
  });

  it('a transaction calls afterCommit listeners once the rows are visible, and only then', async () => {
    const visible = async () => (await database.pool.query('SELECT FROM things WHERE id = 20')).rowCount;
    const called: Promise<number | null>[] = [];
    await database.transaction(async (tx) => {
      tx.afterCommit(() => called.push(visible()));
      await sql(tx, 'INSERT INTO things VALUES (20, 1)');
      expect(called).toHaveLength(0);
    });
    expect(await Promise.all(called)).toEqual([1]);
    const failed = database.transaction(async (tx) => {
      tx.afterCommit(() => called.push(visible()));
      throw new Error('refused');
    });
    await expect(failed).rejects.toThrow('refused');
    expect(called).toHaveLength(1);
  });

  it('a transaction fails when a statement failed and its error was ignored', async () => {
    const work = database.transaction(async (tx) => {
      await sql(tx, 'INSERT INTO things VALUES (21, 0)').catch(() => {});
    });
    await expect(work).rejects.toThrow('a statement had failed');
    await expect(database.transaction((tx) => sql(tx, 'SELECT 1 AS one'))).resolves.toEqual([{ one: 1 }]);
  });

  it('a statement after the end of a transaction is rejected, because it would run in another transaction', async () => {
    let ended: Transaction | undefined;
    await database.transaction(async (tx) => {
      ended = tx;
    });
    await expect(sql(ended as Transaction, 'SELECT 1')).rejects.toThrow('the transaction is over');
  });

  it('a transaction uses no more connections than the pool has, and waits for one', async () => {
    const small = connectDatabase({ url: testDatabase.urls.orders, name: 'small', log, poolSize: 2 });
    const used = () =>
      small.transaction(async (tx) => {
        await sql(tx, 'SELECT pg_sleep(0.05)');
        const [row] = await sql<{ count: number }>(
          tx,
          "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'small'",
        );
        return row?.count;
      });
    const counts = await Promise.all([...Array.from({ length: 6 }, used), small.ping()]);
    expect(Math.max(...counts.map((count) => Number(count ?? 0)))).toBe(2);
    await small.close();
  });

  it('a transaction does not make a ping wait for a connection of the pool', async () => {
    const small = connectDatabase({ url: testDatabase.urls.orders, name: 'small', log, poolSize: 1 });
    const order: string[] = [];
    await small.transaction(async (tx) => {
      const slow = sql(tx, 'SELECT pg_sleep(3)').then(() => order.push('statement'));
      await small.ping();
      order.push('ping');
      await slow;
    });
    expect(order).toEqual(['ping', 'statement']);
    await small.close();
  });

  it('a transaction stops after three attempts', async () => {
    let attempts = 0;
    const work = database.transaction(async (tx) => {
      attempts += 1;
      await sql(tx, "DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$");
    });
    await expect(work).rejects.toThrow('conflict');
    expect(attempts).toBe(3);
  });
});

describe('an unavailable database', () => {
  it('an unavailable database is distinguished from a programming error', async () => {
    const away = connectDatabase({ url: 'postgres://nobody:x@127.0.0.1:9/none', name: 'test', log });
    const errors = await Promise.all([
      away.ping().catch((error: unknown) => error),
      away.transaction(async () => {}).catch((error: unknown) => error),
      database.pool.query('SELECT nonsense').catch((error: unknown) => error),
    ]);
    expect(errors.map(isDatabaseUnavailable)).toEqual([true, true, false]);
    await away.close();
  });

  it('the process continues when the database closes a connection as it is established', async () => {
    const message = (type: string, content: Buffer) => {
      const length = Buffer.alloc(4);
      length.writeInt32BE(content.length + 4);
      return Buffer.concat([Buffer.from(type), length, content]);
    };
    const fatal = ['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection due to administrator command', '', ''].join(
      '\0',
    );
    // The messages for an authenticated connection, a ready query and a termination, all in one packet.
    const answer = Buffer.concat([
      message('R', Buffer.alloc(4)),
      message('Z', Buffer.from('I')),
      message('E', Buffer.from(fatal)),
    ]);
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(answer));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const ending = connectDatabase({ url: `postgres://shop:shop@127.0.0.1:${port}/shop`, name: 'test', log });
    const tries = [ending.ping(), ending.transaction((tx) => sql(tx, 'SELECT 1'))];
    const errors = await Promise.all(tries.map((work) => work.catch((error: unknown) => error)));
    expect(errors.map(isDatabaseUnavailable)).toEqual([true, true]);
    await ending.close();
    server.close();
  });

  it('the pool closes silent connections that the server never closed', async () => {
    const proxy = await startProxy(testDatabase.urls.orders);
    const behind = connectDatabase({ url: proxy.url, name: 'test', log, statementTimeout: 500 });
    const one = () => behind.transaction((tx) => sql(tx, 'SELECT 1 AS one'));
    await Promise.all([behind.ping(), one()]);
    proxy.freeze();
    const errors = await Promise.all([behind.ping(), one()].map((work) => work.catch((error: unknown) => error)));
    expect(errors.map(isDatabaseUnavailable)).toEqual([true, true]);
    await proxy.restore();
    expect(await one()).toEqual([{ one: 1 }]);
    await behind.close();
    await proxy.close();
  });

  it('the pool replaces a connection after an hour of use, and prepares named statements again', async () => {
    const timers = jest.spyOn(globalThis, 'setTimeout');
    const busy = connectDatabase({ url: testDatabase.urls.orders, name: 'test', log, poolSize: 1 });
    const named = { name: 'who', text: 'SELECT pg_backend_pid() AS pid' };
    const reader = await busy.pool.connect();
    const [first, again] = [await reader.query(named), await reader.query(named)];
    expect(again.rows).toEqual(first.rows);
    // Runs every timer of one minute to one hour while the connection is in use.
    for (const [over, delay = 0] of timers.mock.calls) if (delay >= 60_000 && delay <= 3_600_000) over();
    timers.mockRestore();
    reader.release();
    const { rows } = await busy.pool.query(named);
    expect(rows).not.toEqual(first.rows);
    expect((await busy.pool.query('SELECT name FROM pg_prepared_statements')).rows).toEqual([{ name: 'who' }]);
    await busy.close();
  });

  it('the pool reconnects after it has lost its connections', async () => {
    const terminate =
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity ' +
      'WHERE usename = current_user AND datname = current_database() AND pid <> pg_backend_pid()';
    await Promise.all([database.ping(), database.transaction((tx) => sql(tx, 'SELECT 1'))]);
    await database.pool.query(terminate);
    const cut = database.transaction((tx) => sql(tx, 'SELECT pg_terminate_backend(pg_backend_pid())'));
    expect(isDatabaseUnavailable(await cut.catch((error: unknown) => error))).toBe(true);
    // The pool may use a lost connection once more before it detects the loss.
    await eventually(async () => {
      expect(await database.transaction((tx) => sql(tx, 'SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    });
  });
});
