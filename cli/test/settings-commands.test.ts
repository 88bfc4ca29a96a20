// The commands shipping, taxes and discounts, on a running shop.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import type { RunningShop } from '../src/shop/data-folder.ts';
import { askShop, launchShop, queryShop, runningShop, runShop, type StartedShop } from './started-shop.ts';

interface Setting {
  readonly id: string;
}

let folder: string;
let dataDir: string;
let shop: StartedShop;
let running: RunningShop;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-settings-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  dataDir = join(folder, 'data');
  shop = await launchShop({ dataDir });
  await shop.ready;
  running = await runningShop(dataDir);
});

afterAll(async () => {
  await shop?.end();
  await rm(folder, { recursive: true, force: true });
});

const run = (...parameters: string[]) => runShop(dataDir, ...parameters);
const ask = <T = Setting>(...parameters: string[]): Promise<T> => askShop<T>(dataDir, ...parameters);

it('shipping creates a method with every member, which the API shows, and changes, lists and archives it', async () => {
  const members = {
    name: { en: 'Parcel', de: 'Paket' },
    countries: ['CH', 'LI'],
    price: 8,
    freeFrom: 100,
    pricePerKilogram: 1.5,
    maximumWeight: 30.5,
    days: { from: 1, to: 3 },
    taxCategory: 'reduced',
    position: 2,
  };
  const created = await ask(
    ...['shipping', 'create', '--name', 'en=Parcel', 'de=Paket', '--country', 'CH', 'LI', '--price', '8'],
    ...['--free-from', '100', '--price-per-kilogram', '1.50', '--maximum-weight', '30.5', '--days', '1-3'],
    ...['--tax-category', 'reduced', '--position', '2'],
  );
  expect(created).toMatchObject(members);
  const path = `${shop.gateway}/v1/shipping-methods/${created.id}`;
  expect(await (await fetch(path)).json()).toEqual(created);
  expect(await ask('shipping', 'show', created.id)).toEqual(created);

  const change = ['--name', 'fr=Colis', '--price', '8.90', '--without', 'freeFrom', 'countries'];
  const changed = await ask('shipping', 'change', created.id, ...change);
  expect(changed).toMatchObject({ name: { ...members.name, fr: 'Colis' }, price: 8.9, position: 2 });
  expect(changed).not.toHaveProperty('freeFrom');
  expect(await ask<Setting[]>('shipping', 'list')).toContainEqual(changed);
  expect(await ask<Setting[]>('shipping', 'list', '--limit', '1')).toHaveLength(1);
  const { output } = await run('shipping', 'list');
  expect(output).toMatch(/^METHOD +POSITION +PRICE +FREE FROM +DAYS +COUNTRIES +NAME\n/);
  expect(output).toMatch(new RegExp(`^${created.id} +2 +8\\.90 EUR +1-3 +all +Parcel$`, 'm'));
  expect((await run('shipping', 'show', created.id)).output).toMatch(/^pricePerKilogram +1\.50 EUR$/m);
  expect((await run('shipping', 'archive', created.id)).output).toBe(
    `The shipping method ${created.id} is archived.\n`,
  );
  expect((await fetch(path)).status).toBe(404);
  expect((await run('shipping', 'list')).output).not.toContain(created.id);
  expect(await run('shipping', 'show', created.id)).toMatchObject({
    code: 1,
    complaints: `there is no shipping method ${created.id}: npm run shop -- shipping list shows all\n`,
  });
});

it('taxes refuses a second rate of one place and time, and names the first', async () => {
  const rate = ['--country', 'CH', '--rate', '8.1', '--name', 'MWST'];
  const { id } = await ask('taxes', 'create', ...rate);
  const again = await run('taxes', 'create', ...rate);
  expect([again.code, again.complaints]).toEqual([1, expect.stringContaining(`country has the tax rate ${id}`)]);
  const later = await ask('taxes', 'create', ...rate, '--from', '2027-01-01', '--region', 'Uri', '--category', 'books');
  expect(later).toMatchObject({ region: 'Uri', category: 'books', from: '2027-01-01T00:00:00.000Z', rate: 8.1 });
  expect((await run('taxes', 'list')).output).toMatch(new RegExp(`^${id} +CH +standard +8.1 +MWST$`, 'm'));
});

it('discounts creates, changes and archives by the rules of the API, with a history that names no account', async () => {
  const product = newId();
  const created = await ask(
    ...['discounts', 'create', '--name', '10 % off', '--code', 'Spring 10', '--kind', 'percent', '--value', '10'],
    ...['--minimum', '50', '--uses', '100', '--uses-per-account', '1', '--from', '2026-12-01', '--until', '2027-01-01'],
    ...[
      '--brand',
      'Acme',
      'Smith, Sons',
      '--product',
      product,
      '--category',
      'kitchen',
      '--group',
      'T-1',
      '--combinable',
    ],
  );
  expect(created).toMatchObject({
    code: 'Spring 10',
    appliesTo: { productIds: [product], brands: ['Acme', 'Smith, Sons'], categories: ['kitchen'], groups: ['T-1'] },
    until: '2027-01-01T00:00:00.000Z',
    combinable: true,
    used: 0,
  });
  const taken = await run('discounts', 'create', '--name', 'Sale', '--code', 'spring10', '--kind', 'free-shipping');
  expect([taken.code, taken.complaints]).toEqual([
    1,
    expect.stringContaining(`is the code of the discount ${created.id}`),
  ]);
  const faults = await run('discounts', 'change', created.id, '--value', '101', '--until', '2026-11-01');
  expect(faults).toMatchObject({ code: 1, complaints: 'value must be <= 100.00; until must be after from\n' });
  await run('discounts', 'create', '--name', 'Voucher', '--kind', 'amount', '--value', '7.5');
  const { output } = await run('discounts', 'list');
  expect(output).toMatch(/ amount +7\.50 EUR +Voucher$/m);
  expect(output).toMatch(/ percent +10 +0 +100 +2026-12-01T\S+ +2027-01-01T\S+ +10 % off$/m);
  await ask('discounts', 'change', created.id, '--value', '15', '--without', 'code');
  await run('discounts', 'archive', created.id);
  const history = await queryShop<{ body: object | null }>(
    running,
    'orders',
    'SELECT body, actor_id AS actor FROM pricing_settings_history WHERE setting_id = $1 ORDER BY version',
    [created.id],
  );
  expect(history).toMatchObject([
    { body: { value: 10, code: 'Spring 10' }, actor: null },
    { body: { value: 15 }, actor: null },
    { body: null, actor: null },
  ]);
});

it('an option that is no value of its member is refused before anything is done', async () => {
  for (const [command, option, value] of [
    ['shipping', '--price', '8,00'],
    ['shipping', '--name', 'Parcel'],
    ['shipping', '--days', '2'],
    ['discounts', '--kind', 'gift'],
    ['discounts', '--until', 'tomorrow'],
  ] as const) {
    const { code, complaints } = await run(command, 'create', option, value);
    expect([code, complaints]).toEqual([2, expect.stringContaining(option)]);
  }
});
