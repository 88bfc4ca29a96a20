// What the operator reads when a script of a service fails.

import { expect, it } from '@jest/globals';
import type { ServiceName } from '@shop/shared/runtime';
import type { OpenShop } from '../src/shop/open-shop.ts';
import { runScript } from '../src/shop/service-script.ts';
import { runShop } from './started-shop.ts';

/** Gives every host two addresses, as `localhost` has where it is `::1` too. */
const twoAddresses = `
  import dns from 'node:dns';
  dns.lookup = (host, options, done) =>
    done(null, ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 })));`;

it.each([
  ['staff', 'list'],
  ['keys', 'list'],
  ['orders', 'list'],
  ['stock', 'verify'],
  ['products', 'export', 'products.csv'],
  ['seed', '--products', '1'],
])('says that none of the addresses of the database answers: %s %s', async (...words) => {
  const environment = {
    DATABASE_URL: 'postgres://someone:secret@database.example:1/shop',
    KEY_ENCRYPTION_SECRET: 'x'.repeat(32),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(twoAddresses)}`,
  };
  expect(await runShop('/nowhere', environment, ...words)).toEqual({
    code: 1,
    output: '',
    complaints: 'the database does not answer (ECONNREFUSED)\n',
  });
});

it.each([
  ['accounts', 'keys', ['list'], 'KEY_ENCRYPTION_SECRET must have at least 32 characters'],
  ['orders', 'manage-orders', ['list'], /^SHOP_CURRENCY must .*"doubloon"$/],
  ['catalogue', 'import-products', ['new.csv', '--refused', 'refused'], /^SHOP_CURRENCY must .*"doubloon"$/],
  ['catalogue', 'export-products', ['all.csv'], /^SHOP_CURRENCY must .*"doubloon"$/],
  ['catalogue', 'seed', ['--demo'], /^SHOP_CURRENCY must .*"doubloon"$/],
] as const)('names every mistake in the configuration at once: %s/%s', async (service, script, words, second) => {
  const shop = {
    given: { PATH: process.env.PATH, SHOP_CURRENCY: 'doubloon', KEY_ENCRYPTION_SECRET: 'short' },
    databases: { [service as ServiceName]: 'nowhere' },
    folder: {},
    secrets: {},
    settings: {},
  } as unknown as OpenShop;
  const failure = await runScript(shop, service, script, words, () => {}).catch((error: Error) => error.message);
  expect(String(failure).split('\n')).toEqual([
    'DATABASE_URL must be a URL that starts with postgres:// or postgresql://',
    expect.stringMatching(second),
  ]);
});
