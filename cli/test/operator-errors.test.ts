// What the operator reads when a command cannot reach the database or is configured wrongly.
import { expect, it } from '@jest/globals';
import { runShop } from './started-shop.ts';

/** Gives every host name two addresses, as `localhost` has when it also resolves to `::1`. */
const twoAddresses = `
  import dns from 'node:dns';
  dns.lookup = (host, options, done) =>
    done(null, ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 })));`;

const commands = [
  ['staff', 'list'],
  ['keys', 'list'],
  ['orders', 'list'],
  ['stock', 'verify'],
  ['products', 'export', 'products.csv'],
  ['seed', '--products', '1'],
  ['trace', '01931f70-6a10-7b52-9c3e-2f4d8e6a0b01'],
];

it.each(commands)('the command line reports that no address of the database responds: %s %s', async (...words) => {
  const environment = {
    DATABASE_URL: 'postgres://someone:secret@database.example:1/shop',
    KEY_ENCRYPTION_SECRET: 'x'.repeat(32),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(twoAddresses)}`,
  };
  expect(await runShop('/nowhere', environment, ...words)).toEqual({
    code: 1,
    output: '',
    complaints: expect.stringMatching(/^the database does not answer: is it started\? \(.*ECONNREFUSED.*\); .*\n$/),
  });
});

it.each([
  [['keys', 'list'], 'KEY_ENCRYPTION_SECRET must have at least 32 characters\n'],
  [['orders', 'list'], /^SHOP_CURRENCY must .*"doubloon"\n$/],
  [['products', 'import', 'new.csv'], /^SHOP_CURRENCY must .*"doubloon"\n$/],
  [['products', 'export', 'all.csv'], /^SHOP_CURRENCY must .*"doubloon"\n$/],
  [['seed', '--products', '1'], /^SHOP_CURRENCY must .*"doubloon"\n$/],
])('the command line names a configuration error in the configuration of the service: %j', async (words, complaint) => {
  const environment = {
    DATABASE_URL: 'postgres://someone:secret@database.example:1/shop',
    SHOP_CURRENCY: 'doubloon',
    KEY_ENCRYPTION_SECRET: 'short',
  };
  expect(await runShop('/nowhere', environment, ...words)).toEqual({
    code: 1,
    output: '',
    complaints: expect.stringMatching(complaint),
  });
});

it('the command line names the connections that are missing beside those of the other services', async () => {
  const database = 'postgres://someone:secret@database.example:1/shop';
  const given = { ACCOUNTS_DATABASE_URL: database, ORDERS_DATABASE_URL: database };
  expect(await runShop('/nowhere', given, 'orders', 'list')).toEqual({
    code: 1,
    output: '',
    complaints: expect.stringMatching(
      /^set CATALOGUE_DATABASE_URL, CHANGES_DATABASE_URL, NOTIFICATIONS_DATABASE_URL.*, too\n$/,
    ),
  });
});
