// deploy/compose.sh rotates each secret of a shop under Compose while customers order, and `keys rotate` its signing keys. No
// request is lost, and the former values end.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { serviceNames as services } from '@shop/shared/shop';
import { brokerLogin, databaseAttempts } from '../../system/containers/attempts.ts';
import {
  type Client,
  clientOf,
  expectOneMailEach,
  expectResetTokens,
  password,
  startShopping,
} from '../../system/containers/client.ts';
import { type ComposeShop, startComposeShop } from '../../system/containers/compose-shop.ts';

const rotations = ['database', 'broker', 'internal', 'cursors', 'key-encryption', 'webhooks', 'administrator'];
const startWithin = 1_200_000;
let shop: ComposeShop;
let client: Client;

beforeAll(async () => {
  shop = await startComposeShop();
  client = clientOf(shop);
}, startWithin);
afterAll(async () => {
  await shop?.stop();
});

/** The content of each file of secrets that a service has. */
async function secretsOf(service: string): Promise<Readonly<Record<string, string>>> {
  return shop.script(
    service,
    `const { readdirSync, readFileSync } = require('node:fs');
     const read = (name) => [name, readFileSync('/run/secrets/' + name, 'utf8')];
     console.log(JSON.stringify(Object.fromEntries(readdirSync('/run/secrets').map(read))))`,
  );
}

it('the operator rotates every secret under load without a lost request, and revokes the previous values', async () => {
  const former = await secretsOf('accounts');
  const shopping = await startShopping(client);
  for (const secret of rotations) await shop.change('rotate', secret);
  const rotated = await secretsOf('accounts');
  // After the second rotation, the former value encrypts no private key any more.
  for (let rotation = 0; rotation < 2; rotation += 1) {
    expect(await shop.operate(undefined, 'keys', 'rotate')).toMatchObject({ exitCode: 0 });
  }
  for (const secret of ['internal', 'key-encryption']) await shop.change('forget', secret);
  const { requests, failures, placed, resets, kept } = await shopping.stop();
  process.stdout.write(`${requests} rounds of requests while ${rotations.length} secrets and the keys were rotated\n`);
  expect(failures).toEqual([]);
  expect(requests).toBeGreaterThan(100);
  expect(resets.length).toBeGreaterThan(10);
  await expectOneMailEach(client, placed);
  await expectResetTokens(client, resets);

  expect(Object.keys(rotated)).toEqual(Object.keys(former));
  for (const [name, value] of Object.entries(former)) expect(rotated[name]).not.toBe(value);
  for (const name of ['internal-secret', 'cursor-keys', 'key-encryption-secret']) {
    expect(rotated[name]).toMatch(new RegExp(`^[\\w-]{43},${former[name]}$`));
  }
  const present = await secretsOf('accounts');
  for (const name of ['internal-secret', 'key-encryption-secret']) {
    expect(present[name]).toBe(rotated[name]?.split(',')[0]);
  }
  for (const service of services) {
    const { 'database-url': database = '', 'events-url': events = '' } = await secretsOf(service);
    expect([new URL(database).username, new URL(events).username]).toEqual([`${service}_2`, `${service}_2`]);
  }
  // Sessions of the further login still have only the rights of the service's role.
  expect(await shop.script('orders', databaseAttempts(['SELECT 1 FROM orders.outbox', 'SET ROLE accounts']))).toEqual({
    'SELECT 1 FROM orders.outbox': 'ok',
    'SET ROLE accounts': '42501',
  });
  const broker = new URL(former['events-url'] ?? '');
  expect(await shop.script('accounts', brokerLogin(broker.username, broker.password))).toMatch(/ACCESS.REFUSED/);
  const formerLogin = `const pg = require('pg');
    const client = new pg.Client({ connectionString: ${JSON.stringify(former['database-url'])} });
    client.connect().then(() => 'ok', ({ code }) => code).then((said) => console.log(JSON.stringify(said)))`;
  expect(await shop.script('accounts', formerLogin)).toBe('28P01');
  // The administrator's connection of the operator still works.
  expect(await shop.operate(undefined, 'stock', 'verify')).toMatchObject({ exitCode: 0 });

  const next = async () => {
    const { body } = await client.call('POST', '/v1/tokens', undefined, { email: kept?.customer.email, password });
    return client.call('GET', `/v1/orders?limit=1&cursor=${kept?.cursor}`, body.access_token);
  };
  expect(await next()).toMatchObject({ status: 200 });
  await shop.change('forget', 'cursors');
  expect((await secretsOf('orders'))['cursor-keys']).toBe(present['cursor-keys']?.split(',')[0]);
  expect(await next()).toMatchObject({ status: 400, body: { code: 'invalid-cursor' } });
}, 3_600_000);
