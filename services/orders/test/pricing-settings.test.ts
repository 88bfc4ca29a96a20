// What the calculation of prices reads: the settings of every process, at most 2 s after a change.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectDatabase, type Database } from '@shop/shared/database';
import { createLog, newId } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import type { Discount } from '../src/pricing/pricing.ts';
import { countUse } from '../src/settings/discount-uses.ts';
import { openPricingSettings, type SettingsReader } from '../src/settings/pricing-settings.ts';
import { type SettingShop, startSettingShop } from './setting-shop.ts';

let shop: SettingShop;
let database: Database;
/** The settings of another process than the one that changes them. */
let reader: SettingsReader;
let open: () => SettingsReader;
let statements: string[] = [];

beforeAll(async () => {
  shop = await startSettingShop();
  const url = shop.services.database.urls.orders;
  database = connectDatabase({ url, name: 'pricing settings', log: createLog('test', 'silent') });
  const query = database.pool.query.bind(database.pool) as (...given: unknown[]) => unknown;
  const pool = Object.assign(Object.create(database.pool), {
    query: (...given: [{ name: string }]) => {
      statements.push(given[0].name);
      return query(...given);
    },
  }) as Database['pool'];
  open = () => openPricingSettings({ pool }, { currency: 'EUR', taxes: 'included', country: 'CH' });
  reader = open();
});
afterAll(async () => {
  await database?.close();
  await shop?.services.stop();
});

/** Waits until the reader has the settings of the last change. */
async function untilChanged(before: number): Promise<Awaited<ReturnType<SettingsReader['current']>>> {
  return eventually(async () => {
    const settings = await reader.current();
    expect(settings.version).toBeGreaterThan(before);
    return settings;
  }, 2_000);
}

describe('current', () => {
  it('without any setting, the lists are empty and the version is 0', async () => {
    expect(await reader.current()).toEqual({
      version: 0,
      taxes: 'included',
      country: 'CH',
      shippingMethods: [],
      taxRates: [],
      discounts: [],
    });
  });

  it('concurrent callers share one read, and the version is read at most once a second', async () => {
    const other = open();
    statements = [];
    await Promise.all(Array.from({ length: 50 }, () => other.current()));
    for (let index = 0; index < 50; index += 1) await other.current();
    expect(statements).toEqual(['pricing-settings-version', 'pricing-settings']);
  });

  it('a new, a changed and an archived setting are in force within 2 s in another process, in minor units', async () => {
    const { version } = await reader.current();
    const method = (
      await shop.create('shipping-methods', {
        countries: ['CH'],
        freeFrom: 100,
        pricePerKilogram: 1.25,
        maximumWeight: 30.5,
        days: { from: 2, to: 4 },
        position: 3,
      })
    ).body;
    const rate = (await shop.create('tax-rates', { region: 'Uri', from: '2026-12-01T00:00:00Z' })).body;
    const sale = (
      await shop.create('discounts', {
        kind: 'amount',
        value: 5.5,
        minimum: 50,
        until: '2027-01-01T00:00:00Z',
        uses: 3,
      })
    ).body;
    await shop.create('discounts', { code: 'HIDDEN' });
    const settings = await untilChanged(version + 3);
    expect(settings.shippingMethods).toEqual([
      {
        id: method.id,
        name: { en: 'Standard', de: 'Standardversand' },
        countries: ['CH'],
        priceMinor: 790,
        freeFromMinor: 10_000,
        pricePerKilogramMinor: 125,
        maximumWeightGrams: 30_500,
        days: { from: 2, to: 4 },
        taxCategory: 'standard',
        position: 3,
      },
    ]);
    expect(settings.taxRates).toEqual([
      {
        id: rate.id,
        country: 'CH',
        region: 'Uri',
        category: 'standard',
        rate: '8.1',
        name: 'VAT',
        from: new Date('2026-12-01T00:00:00Z'),
      },
    ]);
    expect(settings.discounts).toEqual([
      {
        id: sale.id,
        name: 'Sale',
        kind: 'amount',
        amountMinor: 550,
        minimumMinor: 5_000,
        until: new Date('2027-01-01T00:00:00Z'),
        uses: 3,
        combinable: false,
      },
    ]);
    await shop.patch('shipping-methods', method.id, { price: 8.9 });
    expect((await untilChanged(settings.version)).shippingMethods).toMatchObject([{ priceMinor: 890 }]);
    await shop.archive('shipping-methods', method.id);
    expect((await untilChanged(settings.version + 1)).shippingMethods).toEqual([]);
  });
});

describe('findDiscount', () => {
  const find = (code: string | undefined, others: readonly Discount[] = [], accountId?: string) =>
    reader.findDiscount(code, others, accountId);

  it('findDiscount returns a discount by its code, without regard to case and blanks, and no archived one', async () => {
    const { id } = (await shop.create('discounts', { code: 'Welcome 10', value: 12.5, usesPerAccount: 1 })).body;
    const discount = {
      id,
      name: 'Sale',
      code: 'Welcome 10',
      kind: 'percent',
      percent: '12.5',
      usesPerAccount: 1,
      combinable: false,
    };
    expect(await find(' welcome10')).toEqual({ discount, usedUp: new Set() });
    expect((await find('WELCOME 1')).discount).toBeUndefined();
    await shop.archive('discounts', id);
    expect((await find('Welcome 10')).discount).toBeUndefined();
  });

  it('a discount without a code is found by no code', async () => {
    await shop.create('discounts');
    expect((await find('')).discount).toBeUndefined();
    expect((await find(newId())).discount).toBeUndefined();
  });

  it('findDiscount names the discounts that are used up, by all accounts or by the account', async () => {
    const create = async (body: object) => (await shop.create('discounts', body)).body;
    const code = newId();
    const { id } = await create({ code, uses: 3, usesPerAccount: 2 });
    const [ample, spent, free] = [await create({ uses: 9 }), await create({ uses: 3 }), await create({})];
    const discounts = async () => {
      const current = await reader.current();
      return [ample, spent, free].map((each) => current.discounts.find((found) => found.id === each.id));
    };
    const others = await eventually(async () => {
      const found = (await discounts()).filter((each) => each !== undefined);
      expect(found).toHaveLength(3);
      return found;
    });
    const [one, another] = [newId(), newId()];
    const use = (account: string, ids: readonly string[]) =>
      database.transaction((tx) =>
        countUse(
          tx,
          ids.map((each) => ({ id: each, uses: 9, usesPerAccount: 9 })),
          account,
        ),
      );
    const usedUp = async (account?: string) => [...(await find(code, others, account)).usedUp].sort();
    expect(await usedUp(one)).toEqual([]);
    await use(one, [id, spent.id, ample.id]);
    await use(one, [id, spent.id, ample.id]);
    expect([await usedUp(one), await usedUp(another), await usedUp()]).toEqual([[id], [], []]);
    await use(another, [id, spent.id, ample.id]);
    const both = [id, spent.id].sort();
    expect([await usedUp(one), await usedUp(another), await usedUp()]).toEqual([both, both, both]);
    expect((await find(undefined, others, one)).usedUp).toEqual(new Set([spent.id]));
    expect((await find(undefined, others, one)).discount).toBeUndefined();
  });
});

describe('used', () => {
  it('a discount with uses shows the orders that use it, in its entity tag, too, and others show none', async () => {
    const counted = await shop.create('discounts', { uses: 10 });
    expect(counted.body.used).toBe(0);
    await database.pool.query(
      `INSERT INTO discount_uses (discount_id, account_id, used) VALUES ($1, '00000000-0000-0000-0000-000000000000', 4), ($1, $2, 2)`,
      [counted.body.id, newId()],
    );
    const shown = await shop.get('discounts', counted.body.id);
    expect(shown.body.used).toBe(4);
    expect(shown.headers.etag).not.toBe(counted.headers.etag);
    const matched = await shop.patch(
      'discounts',
      counted.body.id,
      { value: 20 },
      { 'If-Match': counted.headers.etag ?? '' },
    );
    expect(matched).toMatchObject({ status: 200, body: { value: 20, used: 4 } });
    expect((await shop.create('discounts')).body).not.toHaveProperty('used');
  });
});
