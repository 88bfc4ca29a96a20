// Queries of sequelize over the pool of the service.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@shop/shared/testing';
import pg from 'pg';
import { Account, defineAccount } from '../src/account/account.ts';
import { connectModels } from '../src/account/models.ts';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase(['accounts']);
  pool = new pg.Pool({ connectionString: database.urls.accounts, max: 1, query_timeout: 500 });
  defineAccount(connectModels(pool));
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

it('the database pool does not use a connection again whose query got no response in time', async () => {
  const other = new pg.Client({ connectionString: database.urls.accounts });
  await other.connect();
  try {
    await other.query('BEGIN');
    await other.query('LOCK accounts');
    await expect(Account.findByPk('01932f7c-8e5a-7c3e-9d52-3f1b6a4e8c70')).rejects.toThrow('Query read timeout');
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  } finally {
    await other.end();
  }
});
