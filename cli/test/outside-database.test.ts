// The command line on a PostgreSQL that DATABASE_URL names: restore, backup, and the messages when the database is not
// ready.
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { schemas } from '@shop/shared/database';
import { type EmbeddedPostgres, freePorts, startEmbeddedPostgres } from '@shop/shared/embedded';
import { serviceNames } from '@shop/shared/shop';
import pg from 'pg';
import { type Ended, runShop } from './started-shop.ts';

let folder: string;
let server: EmbeddedPostgres;
let port: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-outside-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  server = await startEmbeddedPostgres({ dataDir: join(folder, 'server'), durable: false });
  [port = 0] = await freePorts(1);
  // The shop of the backup. It never runs.
  await (await startEmbeddedPostgres({ dataDir: join(folder, 'data/postgres'), durable: true })).stop();
});

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

const at = (database: string) => ({
  GATEWAY_PORT: String(port),
  DATABASE_URL: Object.assign(new URL(server.url), { pathname: `/${database}` }).href,
});
const run = (
  ...parameters: Parameters<typeof runShop> extends [string, ...infer Rest] ? Rest : never
): Promise<Ended> => runShop(join(folder, 'place'), ...parameters);

async function manifest(name: string): Promise<Record<string, unknown>> {
  const { takenAt: _takenAt, ...content } = JSON.parse(await readFile(join(folder, name, 'manifest.json'), 'utf8'));
  return content;
}

async function query(url: string, text: string, values: unknown[] = []): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** The stored password verifier of each role. */
function passwords(): Promise<unknown[]> {
  return query(server.url, 'SELECT rolname, rolpassword FROM pg_authid WHERE rolname = ANY ($1) ORDER BY 1', [schemas]);
}

describe('a database behind DATABASE_URL', () => {
  it('a restore fills the database of DATABASE_URL, and a backup of it equals the restored one', async () => {
    const first = join(folder, 'first');
    expect(await runShop(join(folder, 'data'), 'seed', '--products', '321')).toMatchObject({ code: 0 });
    expect(await runShop(join(folder, 'data'), 'backup', first)).toMatchObject({ code: 0 });
    const restored = await run(at('bazaar'), 'restore', first, '--json');
    expect(restored).toMatchObject({ code: 0, complaints: '' });
    expect(JSON.parse(restored.output)).toMatchObject({ products: 321, toldAgain: 0, verified: true });
    const disabled = "SELECT tgname FROM pg_trigger WHERE tgenabled = 'D'";
    expect(await query(at('bazaar').DATABASE_URL, disabled)).toEqual([]);

    const second = join(folder, 'second');
    expect(await run(at('bazaar'), 'backup', second)).toMatchObject({ code: 0, complaints: '' });
    expect(await manifest('second')).toEqual(await manifest('first'));
    const elsewhere = await runShop(join(folder, 'nowhere'), at('bazaar'), 'backup', join(folder, 'third'));
    expect(elsewhere.output).toContain('No secrets are in it');
  });

  it('a rejected restore does not change data and passwords of the database, with any data folder', async () => {
    const before = await passwords();
    expect(before).toHaveLength(schemas.length);
    expect(await runShop(join(folder, 'fresh'), at('bazaar'), 'restore', join(folder, 'first'))).toMatchObject({
      code: 1,
      complaints: expect.stringMatching(/^the shop is not empty: there are rows in catalogue\.product_search\./),
    });
    expect(await passwords()).toEqual(before);
  });

  it('a restore is rejected when the data folder belongs to another shop, because its secrets would be replaced', async () => {
    const data = join(folder, 'data');
    const secrets = await readFile(join(data, 'secrets.json'), 'utf8');
    expect(await runShop(data, at('another'), 'restore', join(folder, 'first'))).toEqual({
      code: 1,
      output: '',
      complaints:
        `${data} has a shop of its own, with its own secrets: restore with another SHOP_DATA_DIR, ` +
        'or without DATABASE_URL\n',
    });
    expect(await readFile(join(data, 'secrets.json'), 'utf8')).toBe(secrets);
  });

  it('the database is called shop when DATABASE_URL contains no name, for every command', async () => {
    const unnamed = { ...at(''), DATABASE_URL: at('').DATABASE_URL.replace(/\/$/, '') };
    expect(await run(unnamed, 'orders', 'list')).toMatchObject({
      code: 1,
      complaints: expect.stringContaining('database "shop" does not exist'),
    });
    expect(await run(unnamed, 'restore', join(folder, 'first'))).toMatchObject({ code: 0, complaints: '' });
    expect(await run(unnamed, 'orders', 'list')).toMatchObject({ code: 0, output: 'No orders found.\n' });
    expect(await run(unnamed, 'restore', join(folder, 'first'))).toMatchObject({
      code: 1,
      complaints: expect.stringMatching(/^the shop is not empty/),
    });
  });

  it('every command accepts the database of DATABASE_URL', async () => {
    const status = await run(at('bazaar'), 'status', '--json');
    expect(status.code).toBe(1);
    expect(JSON.parse(status.output)).toMatchObject({
      running: false,
      outboxes: serviceNames.map((service) => ({ service, waiting: 0 })),
    });
    expect(await run(at('bazaar'), 'orders', 'list')).toMatchObject({
      code: 0,
      output: 'No orders found.\n',
    });
    const doctor = await run(at('bazaar'), 'doctor');
    expect(doctor).toMatchObject({ code: 0, output: expect.stringMatching(/^migrations orders +ok /m) });
  });

  it('the command reports the remedy when the database lacks migrations or tables, or does not exist', async () => {
    const client = new pg.Client({ connectionString: at('bazaar').DATABASE_URL });
    await client.connect();
    await client.query("DELETE FROM orders.migrations WHERE name LIKE '0001%'");
    await client.query("INSERT INTO accounts.migrations (name) VALUES ('9999_of_tomorrow.sql')");
    await client.query('DROP TABLE accounts.accounts CASCADE');
    await client.end();
    const { output } = await run(at('bazaar'), 'doctor');
    expect(output).toMatch(/^migrations orders +warning +0001_orders\.sql is not applied yet$/m);
    expect(output).toMatch(/^migrations accounts +failed +this version does not know 9999_of_tomorrow\.sql$/m);
    expect(output).toMatch(/^migrations orders: npm start applies them/m);
    expect(await run(at('bazaar'), 'staff', 'list')).toMatchObject({ code: 1, output: '' });
    expect(await run(at('nothing'), 'trace', '01931f70-6a10-7b52-9c3e-2f4d8e6a0b01')).toEqual({
      code: 1,
      output: '',
      complaints:
        'there is no such database: run npm start once, or check DATABASE_URL (database "nothing" does not ' +
        'exist); npm run shop -- doctor shows more\n',
    });
  });
});
