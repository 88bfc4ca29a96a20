// PostgreSQL's errors for a temporary failure, and connections that lead to a read-only server.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  connectDatabase,
  type Database,
  isDatabaseUnavailable,
  sql,
  unavailableStates,
  withClient,
} from '@shop/shared/database';
import { createLog } from '@shop/shared/runtime';
import { createTestDatabase, type TestDatabase } from '@shop/shared/testing';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase([]);
  database = connectDatabase({ url: testDatabase.urls.orders, name: 'test', log: createLog('test', 'silent') });
  await database.pool.query('CREATE TABLE things (id int)');
});
afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

/** The SQLSTATEs of the classes that PostgreSQL 18 defines. */
const membersOf: Readonly<Record<string, readonly string[]>> = {
  '08': ['08000', '08001', '08003', '08004', '08006', '08007', '08P01'],
  '28': ['28000', '28P01'],
  '53': ['53000', '53100', '53200', '53300', '53400'],
  '58': ['58000', '58030', '58P01', '58P02'],
};
const unavailable = Object.keys(unavailableStates).flatMap((state) => membersOf[state] ?? [state]);

const raise = (state: string): string => `DO $$ BEGIN RAISE EXCEPTION 'raised' USING ERRCODE = '${state}'; END $$`;

/** Returns the errors of a query of the pool and of a statement in a transaction for this SQLSTATE. */
async function raised(state: string): Promise<unknown[]> {
  const thrown = (error: unknown): unknown => error;
  return [
    await database.pool.query(raise(state)).catch(thrown),
    await database.transaction((tx) => sql(tx, raise(state))).catch(thrown),
  ];
}

describe('an error that PostgreSQL raises', () => {
  it('every class of the table has at least one error of PostgreSQL', () => {
    for (const state of unavailable) expect(state).toMatch(/^[0-9A-Z]{5}$/);
    expect(unavailable).toContain('25006');
  });

  it.each(unavailable)('the error %s of PostgreSQL counts as an unavailable database', async (state) => {
    expect((await raised(state)).map(isDatabaseUnavailable)).toEqual([true, true]);
  });

  it.each(['22001', '22P02', '23505', '25001', '25P02', '42601', '42P01', 'P0001', 'XX000', 'XX001'])(
    'the error %s of PostgreSQL counts as a programming error',
    async (state) => {
      expect((await raised(state)).map(isDatabaseUnavailable)).toEqual([false, false]);
    },
  );
});

describe('an error of the driver', () => {
  it('an error of the driver counts as an unavailable database when the server does not accept the connection in time', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const url = `postgres://orders:secret@127.0.0.1:${port}/shop`;
    const error: unknown = await withClient({ url, connectWithin: 50 }, async () => {}).catch((thrown) => thrown);
    silent.close();
    expect(String(error)).toBe('Error: timeout expired');
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  it('an error of the driver counts as an unavailable database when the connection was closed before the statement', async () => {
    const closed = await withClient({ url: testDatabase.urls.orders }, async (client) => client);
    const error: unknown = await closed.query('SELECT 1').catch((thrown: unknown) => thrown);
    expect(String(error)).toBe('Error: Client was closed and is not queryable');
    expect(isDatabaseUnavailable(error)).toBe(true);
  });
});

describe('a connection whose server became read-only', () => {
  const readOnly = 'SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY';

  it('a connection to a server that became read-only fails one transaction and is then replaced', async () => {
    await database.transaction((tx) => sql(tx, readOnly));
    const insert = () => database.transaction((tx) => sql(tx, 'INSERT INTO things VALUES (1) RETURNING id'));
    const error: unknown = await insert().catch((thrown: unknown) => thrown);
    expect(String(error)).toContain('cannot execute INSERT in a read-only transaction');
    expect(isDatabaseUnavailable(error)).toBe(true);
    await expect(insert()).resolves.toEqual([{ id: 1 }]);
  });

  it('a connection to a server that became read-only fails one query of the pool and is then replaced', async () => {
    await database.pool.query(readOnly);
    const insert = () => database.pool.query('INSERT INTO things VALUES (2)');
    await expect(insert()).rejects.toThrow('read-only transaction');
    await expect(insert()).resolves.toMatchObject({ rowCount: 1 });
  });

  it('a connection to a server that became read-only fails one ping and is then replaced', async () => {
    await database.pool.query(readOnly);
    await expect(database.ping()).rejects.toThrow('the database is read-only');
    await expect(database.ping()).resolves.toBeUndefined();
  });
});
