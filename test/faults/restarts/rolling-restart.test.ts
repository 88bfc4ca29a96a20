// Every process of the shop, two of each kind, is replaced in turn under load, twice, with the internal secret and the
// logins at the database. No request is lost and nothing happens twice.
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { verifyEmailAsOperator } from '@shop/accounts/operator';
import { provisionDatabase, type SchemaName, schemas } from '@shop/shared/database';
import type { Environment } from '@shop/shared/runtime';
import { serviceNames } from '@shop/shared/shop';
import { eventually } from '@shop/shared/testing';
import pg from 'pg';
import { Pool } from 'undici';
import { browse, type Customer, call, customerOf } from './customers.ts';
import { answeredWithin, internalSecret, type ReplicatedShop, startReplicatedShop } from './replicated-shop.ts';
import { startLoad } from './steady-load.ts';

const perSecond = 300;
const customers: Customer[] = [];
let shop: ReplicatedShop;
let pool: Pool;

beforeAll(async () => {
  shop = await startReplicatedShop();
  // Idle connections are closed before a stopping gateway stops answering.
  pool = new Pool(shop.url, { connections: 100, keepAliveTimeout: 3_000, keepAliveMaxTimeout: 3_000 });
  for (let index = 0; index < 40; index += 1) customers.push(await registerCustomer(index));
});
afterAll(async () => {
  await pool?.destroy();
  // Roles belong to the whole server, which other test files use afterwards.
  if (shop !== undefined) await provision((role) => passwordOf(role));
  await shop?.stop();
});

it('the shop loses no request while all processes, the internal secret and the database logins are replaced', async () => {
  const productId = await makeProduct();
  const placed: string[] = [];
  // The requests have no idempotency keys, because requests that the gateway must not repeat must not fail either.
  const load = startLoad(perSecond, async (turn) => {
    if (turn % 20 !== 0) return browse(pool, customers, turn);
    const order = { items: [{ productId, quantity: 1 }] };
    const { id } = await call(pool, 'POST', '/v1/orders', 201, customerOf(customers, turn), order);
    placed.push(String(id));
  });
  // At first all processes accept the next secret, then they use it. Each role has two logins until all processes use
  // the second one.
  const next = 'the-next-one-of-the-tests-the-next-one-of-the-tests';
  const endings: unknown[] = [];
  const replaceAll = async (changed: (name: string) => Environment): Promise<void> => {
    for (const process of shop.processes)
      endings.push(await shop.replace(process, { environment: changed(process.name) }));
  };
  await replaceAll(() => ({ INTERNAL_SECRET: `${internalSecret},${next}` }));
  const secondLogin = (role: SchemaName): string => `${role}_2:the-second-password`;
  await provision((role) => `${role}:${passwordOf(role)},${secondLogin(role)}`);
  await replaceAll((name) => ({ INTERNAL_SECRET: `${next},${internalSecret}`, ...secondLogins(name) }));
  await provision(secondLogin);
  await expect(query('SELECT 1', shop.database.urls.orders)).rejects.toThrow('password authentication failed');
  const { requests, rate, slowest, pace, failures } = await load.stop();
  process.stdout.write(
    `${requests} requests while ${endings.length} processes were replaced, ${rate.toFixed(0)} a second ` +
      `(wanted ${perSecond}), the slowest took ${slowest.toFixed(0)} ms\n`,
  );
  expect(failures).toEqual([]);
  expect(slowest).toBeLessThan(answeredWithin * pace);
  expect(endings).toEqual([...shop.processes, ...shop.processes].map(() => [0, null]));
  expect(placed.length).toBeGreaterThan(0);

  // Each order exists once, with its stock, and its customer has got one e-mail.
  expect(await query('SELECT id FROM orders.orders ORDER BY id')).toEqual(placed.toSorted().map((id) => ({ id })));
  expect(await query('SELECT reserved FROM catalogue.products')).toEqual([{ reserved: placed.length }]);
  await eventually(async () => {
    const written = (await readdir(shop.mailFolder)).map((name) => name.slice(0, 36));
    expect(written.filter((id) => placed.includes(id)).toSorted()).toEqual(placed.toSorted());
  }, 120_000);
}, 900_000);

/** The variables that make a process use the second login of each of its roles. */
function secondLogins(processName: string): Environment {
  const login = (role: SchemaName): string =>
    Object.assign(new URL(shop.database.urls[role]), { username: `${role}_2`, password: 'the-second-password' }).href;
  const service = serviceNames.find((name) => processName.startsWith(name));
  return service === undefined ? {} : { DATABASE_URL: login(service), EVENTS_URL: login('events') };
}

function passwordOf(role: SchemaName): string {
  return new URL(shop.database.urls[role]).password;
}

/** @param loginsOf the password of a role, or its logins */
async function provision(loginsOf: (role: SchemaName) => string): Promise<void> {
  const { adminUrl } = shop.database;
  const roles = Object.fromEntries(schemas.map((role) => [role, loginsOf(role)])) as Record<SchemaName, string>;
  await provisionDatabase({ adminUrl, database: new URL(adminUrl).pathname.slice(1), roles });
}

async function registerCustomer(index: number): Promise<Customer> {
  const address = `10.1.2.${index + 1}`;
  const who = { email: `robin-${index}@example.com`, password: 'a lantern in the fog' };
  await call(pool, 'POST', '/v1/accounts', 201, { address }, { name: 'Robin', ...who });
  await verifyEmailAsOperator({ DATABASE_URL: shop.database.urls.accounts }, who.email);
  const { access_token: token } = await call(pool, 'POST', '/v1/tokens', 200, { address }, who);
  return { token: String(token), address };
}

/** Inserts the row directly, because creating it over the API would need staff. */
async function makeProduct(): Promise<string> {
  const [row] = await query(
    `INSERT INTO catalogue.products (id, name, brand, category, price_minor, status, stock)
     VALUES (gen_random_uuid(), 'Brass lantern', 'Fjord', 'lighting', 4990, 'active', 1000000) RETURNING id`,
  );
  return String(row?.id);
}

async function query(text: string, url = shop.database.adminUrl): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}
