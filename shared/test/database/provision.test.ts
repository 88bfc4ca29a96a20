// Provisioning: each role has access to its own schema only. Repeated and concurrent runs change nothing else.
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { provisionDatabase, type SchemaName, schemas } from '../../src/database/provision.ts';
import { startEmbeddedPostgres } from '../../src/embedded/index.ts';
import { adminUrlVariable } from '../../src/testing/run-state.ts';

const adminUrl = process.env[adminUrlVariable] ?? '';
const database = `provision_${randomBytes(6).toString('hex')}`;
// Roles belong to the whole server, which other test files use at the same time, so the password is the one that they
// use.
const roles = Object.fromEntries(schemas.map((name) => [name, 'only-for-tests'])) as Record<SchemaName, string>;
let urls: Record<SchemaName, string>;

async function ask(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query({ text, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end();
  }
}

beforeAll(async () => {
  [urls] = (await Promise.all(Array.from({ length: 5 }, () => provisionDatabase({ adminUrl, database, roles })))) as [
    Record<SchemaName, string>,
  ];
  for (const name of schemas) await ask(urls[name], 'CREATE TABLE own (id integer)');
});

afterAll(async () => {
  await ask(adminUrl, `DROP DATABASE ${database} WITH (FORCE)`);
});

describe.each(schemas)('the role %s', (name) => {
  it('the role of a service works in its own schema, which it owns', async () => {
    expect(
      await ask(
        urls[name],
        `SELECT current_schema(), current_user, (SELECT nspowner::regrole::text FROM pg_namespace
      WHERE nspname = current_schema()), current_setting('search_path'), current_setting('timezone')`,
      ),
    ).toEqual([name, name, name, name, 'UTC']);
  });

  it.each(schemas.filter((other) => other !== name))(`the role ${name} cannot read from %s`, async (other) => {
    await expect(ask(urls[name], `SELECT * FROM ${other}.own`)).rejects.toThrow(
      `permission denied for schema ${other}`,
    );
  });

  it.each([
    ['make a table in public', 'CREATE TABLE public.x (id integer)'],
    ['make a schema', 'CREATE SCHEMA x'],
    ['make a temporary table', 'CREATE TEMPORARY TABLE x (id integer)'],
    ['make a role', 'CREATE ROLE x'],
    ['make a database', 'CREATE DATABASE x'],
    ['become another role', 'SET ROLE postgres'],
    ['read a file of the server', `SELECT pg_read_file('postgresql.conf')`],
  ])('the role of a service cannot %s', async (_, text) => {
    await expect(ask(urls[name], text)).rejects.toThrow('permission denied');
  });

  it("the role of a service cannot enter the server's own database", async () => {
    const other = Object.assign(new URL(urls[name]), { pathname: '/postgres' }).href;
    await expect(ask(other, 'SELECT 1')).rejects.toThrow('pg_hba.conf rejects connection');
  });
});

/** Gives each role a second login, and then ends the first one. */
async function replacePasswords(boss: string): Promise<void> {
  const provision = (loginsOf: (name: string) => string): Promise<Record<SchemaName, string>> => {
    const logins = Object.fromEntries(schemas.map((name) => [name, loginsOf(name)])) as typeof roles;
    return provisionDatabase({ adminUrl: boss, database: 'shop', roles: logins });
  };
  const first = await provision((name) => `${name}:second,${name}_2:third`);
  const next = await provision((name) => `${name}_2:third,${name}:second`);
  expect([first, next].map(({ orders }) => new URL(orders).username)).toEqual(['orders', 'orders_2']);
  // What a session creates belongs to the role, whatever its login.
  for (const { orders } of [next, first]) {
    expect(await ask(orders, 'SELECT current_user, current_schema(), current_setting($$timezone$$)')).toEqual([
      'orders',
      'orders',
      'UTC',
    ]);
  }
  await ask(next.orders, 'CREATE TABLE made (id integer)');
  await ask(first.orders, 'DROP TABLE made');
  for (const text of ['CREATE TABLE accounts.x ()', 'SET ROLE accounts', 'CREATE ROLE x']) {
    await expect(ask(next.orders, text)).rejects.toThrow('permission denied');
  }
  await provision((name) => `${name}_2:third`);
  expect(await ask(next.orders, 'SELECT 1')).toEqual([1]);
  await expect(ask(first.orders, 'SELECT 1')).rejects.toThrow('password authentication failed');
  // The next replacement ends the second login.
  const third = await provision((name) => `${name}_3:fourth`);
  expect(await ask(third.orders, 'SELECT current_user')).toEqual(['orders']);
  await expect(ask(next.orders, 'SELECT 1')).rejects.toThrow('password authentication failed');
}

describe('provisioning', () => {
  it('provisioning does not change existing objects when it runs again', async () => {
    await ask(urls.orders, 'INSERT INTO own VALUES (7)');
    await provisionDatabase({ adminUrl, database, roles });
    expect(await ask(urls.orders, 'SELECT id FROM own')).toEqual([7]);
  });

  it('provisioning needs no superuser, only the right to create databases and roles', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'shop-provision-'));
    await chmod(folder, 0o711); // PostgreSQL runs as another user when root runs this
    const server = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), durable: false });
    try {
      await ask(server.url, `CREATE ROLE boss LOGIN CREATEDB CREATEROLE PASSWORD 'boss'`);
      await ask(server.url, 'CREATE DATABASE boss OWNER boss');
      const boss = `postgres://boss:boss@127.0.0.1:${server.port}/boss`;
      for (const password of ['first', 'second']) {
        const passwords = Object.fromEntries(schemas.map((name) => [name, password])) as typeof roles;
        const made = await provisionDatabase({ adminUrl: boss, database: 'shop', roles: passwords });
        expect(await ask(made.orders, 'SELECT current_schema()')).toEqual(['orders']);
        await expect(ask(made.orders, 'CREATE TABLE accounts.x ()')).rejects.toThrow('permission denied');
        await expect(ask(boss, 'SET ROLE orders')).rejects.toThrow('permission denied');
      }
      await replacePasswords(boss);
    } finally {
      await server.stop();
      await rm(folder, { recursive: true });
    }
  });

  it('provisioning sets passwords that a failure does not write to the log of the server', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'shop-provision-'));
    await chmod(folder, 0o711); // PostgreSQL runs as another user when root runs this
    const server = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), durable: false });
    const log = () => readFile(join(folder, 'data/postgres.log'), 'utf8');
    try {
      const password = `it's "one" $1 \\ of, many: ~`;
      const provision = (value: string) =>
        provisionDatabase({
          adminUrl: server.url,
          database: 'shop',
          roles: Object.fromEntries(schemas.map((name) => [name, value])) as typeof roles,
        });
      for (const value of [password, password, 'pässwörter', 'orders:first,orders_2:second']) {
        const { orders } = await provision(value);
        expect(await ask(orders, 'SELECT current_user')).toEqual(['orders']);
      }
      // A former login that owns a table cannot be removed.
      await ask(server.url, 'ALTER SCHEMA public OWNER TO orders_2');
      await expect(provision(password)).rejects.toThrow('role "orders_2" cannot be dropped');
      expect(await log()).toContain('ALTER ROLE orders LOGIN PASSWORD');
      expect(await log()).not.toContain(`one" $1`);
    } finally {
      await server.stop();
      await rm(folder, { recursive: true });
    }
  });

  it('provisioning gives the roles no rights on the server', async () => {
    expect(
      await ask(
        adminUrl,
        `SELECT rolname FROM pg_roles WHERE rolname = ANY ('{${schemas.join(',')}}')
           AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls)`,
      ),
    ).toEqual([]);
  });
});
