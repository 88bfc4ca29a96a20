// The members of shipping methods, tax rates and discounts: their bounds, their normal form, and faults between them.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { type Kind, type SettingShop, startSettingShop } from './setting-shop.ts';

let shop: SettingShop;

beforeAll(async () => {
  shop = await startSettingShop();
});
afterAll(() => shop?.services.stop());

const long = (length: number) => 'x'.repeat(length);
const list = (length: number, item = (index: number): string => `item ${index}`) =>
  Array.from({ length }, (_, index) => item(index));
const languages = (count: number) =>
  Object.fromEntries(list(count, (index) => `${'abcdefghijkl'[index]}a`).map((tag) => [tag, 'Standard']));
const [early, late] = ['2026-12-01T00:00:00.000Z', '2026-12-24T00:00:00.000Z'];

const accepted: [Kind, object][] = [
  ['shipping-methods', { name: languages(10) }],
  ['shipping-methods', { name: { 'zh-Hant-TW': '標準配送' } }],
  ['shipping-methods', { name: { en: long(100) } }],
  ['shipping-methods', { countries: ['CH'] }],
  ['shipping-methods', { countries: ['CH', 'XK'] }],
  ['shipping-methods', { price: 0 }],
  ['shipping-methods', { price: 1_000_000_000 }],
  ['shipping-methods', { freeFrom: 0.01, pricePerKilogram: 1.25 }],
  ['shipping-methods', { maximumWeight: 0.001 }],
  ['shipping-methods', { maximumWeight: 1_000_000 }],
  ['shipping-methods', { days: { from: 0, to: 0 } }],
  ['shipping-methods', { days: { from: 2, to: 365 } }],
  ['shipping-methods', { taxCategory: 'reduced-1' }],
  ['shipping-methods', { position: 1_000_000 }],
  ['tax-rates', { rate: 0 }],
  ['tax-rates', { rate: 100 }],
  ['tax-rates', { rate: 8.8751 }],
  ['tax-rates', { region: long(200) }],
  ['tax-rates', { category: 'books' }],
  ['tax-rates', { from: early }],
  ['discounts', { value: 0.01 }],
  ['discounts', { value: 100 }],
  ['discounts', { value: 12.25 }],
  ['discounts', { kind: 'amount', value: 1_000_000_000 }],
  ['discounts', { kind: 'free-shipping', value: undefined }],
  ['discounts', { minimum: 49.9 }],
  ['discounts', { appliesTo: { productIds: [newId()], brands: list(50), categories: ['Kitchen'], groups: ['T-1'] } }],
  ['discounts', { from: early, until: late }],
  ['discounts', { uses: 1, usesPerAccount: 1_000_000_000 }],
  ['discounts', { combinable: true }],
];

const refused: [Kind, object, string][] = [
  ['shipping-methods', { name: undefined }, '/name'],
  ['shipping-methods', { name: 'Standard' }, '/name'],
  ['shipping-methods', { name: {} }, '/name'],
  ['shipping-methods', { name: languages(11) }, '/name'],
  ['shipping-methods', { name: { '': 'Standard' } }, '/name/'],
  ['shipping-methods', { name: { en_US: 'Standard' } }, '/name/en_US'],
  ['shipping-methods', { name: { en: '' } }, '/name/en'],
  ['shipping-methods', { name: { en: '  ' } }, '/name/en'],
  ['shipping-methods', { name: { en: long(101) } }, '/name/en'],
  ['shipping-methods', { countries: [] }, '/countries'],
  ['shipping-methods', { countries: ['CH', 'ch'] }, '/countries/1'],
  ['shipping-methods', { countries: ['UK'] }, '/countries/0'],
  ['shipping-methods', { countries: ['EU'] }, '/countries/0'],
  ['shipping-methods', { countries: ['QQ'] }, '/countries/0'],
  ['shipping-methods', { price: undefined }, '/price'],
  ['shipping-methods', { price: -0.01 }, '/price'],
  ['shipping-methods', { price: 7.999 }, '/price'],
  ['shipping-methods', { price: 1_000_000_000.01 }, '/price'],
  ['shipping-methods', { price: '7.90' }, '/price'],
  ['shipping-methods', { freeFrom: 1.001 }, '/freeFrom'],
  ['shipping-methods', { pricePerKilogram: 1e-9 }, '/pricePerKilogram'],
  ['shipping-methods', { maximumWeight: 0 }, '/maximumWeight'],
  ['shipping-methods', { maximumWeight: 0.0001 }, '/maximumWeight'],
  ['shipping-methods', { maximumWeight: 1_000_001 }, '/maximumWeight'],
  ['shipping-methods', { days: { from: 1 } }, '/days/to'],
  ['shipping-methods', { days: { from: 3, to: 2 } }, '/days/to'],
  ['shipping-methods', { days: { from: -1, to: 2 } }, '/days/from'],
  ['shipping-methods', { days: { from: 1, to: 366 } }, '/days/to'],
  ['shipping-methods', { taxCategory: 'Standard rate' }, '/taxCategory'],
  ['shipping-methods', { taxCategory: long(51) }, '/taxCategory'],
  ['shipping-methods', { position: 1.5 }, '/position'],
  ['shipping-methods', { position: -1 }, '/position'],
  ['shipping-methods', { id: newId() }, '/id'],
  ['tax-rates', { country: undefined }, '/country'],
  ['tax-rates', { country: 'Switzerland' }, '/country'],
  ['tax-rates', { country: 'UK' }, '/country'],
  ['tax-rates', { region: ' ' }, '/region'],
  ['tax-rates', { region: long(201) }, '/region'],
  ['tax-rates', { category: '' }, '/category'],
  ['tax-rates', { rate: undefined }, '/rate'],
  ['tax-rates', { rate: -0.1 }, '/rate'],
  ['tax-rates', { rate: 100.0001 }, '/rate'],
  ['tax-rates', { rate: 8.10001 }, '/rate'],
  ['tax-rates', { name: '' }, '/name'],
  ['tax-rates', { name: long(101) }, '/name'],
  ['tax-rates', { from: '2026-12-01' }, '/from'],
  ['tax-rates', { from: '2026-02-30T00:00:00Z' }, '/from'],
  ['discounts', { name: undefined }, '/name'],
  ['discounts', { name: ' ' }, '/name'],
  ['discounts', { code: '' }, '/code'],
  ['discounts', { code: ' \t' }, '/code'],
  ['discounts', { code: long(101) }, '/code'],
  ['discounts', { kind: 'gift' }, '/kind'],
  ['discounts', { value: undefined }, '/value'],
  ['discounts', { value: 0 }, '/value'],
  ['discounts', { value: 100.01 }, '/value'],
  ['discounts', { value: 12.345 }, '/value'],
  ['discounts', { kind: 'amount', value: 1.999 }, '/value'],
  ['discounts', { kind: 'amount', value: undefined }, '/value'],
  ['discounts', { kind: 'amount', value: 1_000_000_000.01 }, '/value'],
  ['discounts', { kind: 'free-shipping' }, '/value'],
  ['discounts', { minimum: 0.001 }, '/minimum'],
  ['discounts', { appliesTo: {} }, '/appliesTo'],
  ['discounts', { appliesTo: { brands: [] } }, '/appliesTo/brands'],
  ['discounts', { appliesTo: { brands: list(51) } }, '/appliesTo/brands'],
  ['discounts', { appliesTo: { categories: [long(101)] } }, '/appliesTo/categories/0'],
  ['discounts', { appliesTo: { productIds: ['mug'] } }, '/appliesTo/productIds/0'],
  ['discounts', { appliesTo: { colours: ['red'] } }, '/appliesTo/colours'],
  ['discounts', { from: late, until: early }, '/until'],
  ['discounts', { from: early, until: early }, '/until'],
  ['discounts', { until: 'tomorrow' }, '/until'],
  ['discounts', { uses: 0 }, '/uses'],
  ['discounts', { uses: 1.5 }, '/uses'],
  ['discounts', { usesPerAccount: 1_000_000_001 }, '/usesPerAccount'],
  ['discounts', { combinable: 'yes' }, '/combinable'],
  ['discounts', { used: 3 }, '/used'],
];

describe('201', () => {
  it.each(accepted)('POST /v1/%s accepts and returns %j', async (kind, change) => {
    const { status, body } = await shop.create(kind, change);
    expect([status, body]).toEqual([201, expect.objectContaining(JSON.parse(JSON.stringify(change)))]);
    expect((await shop.get(kind, body.id)).body).toEqual(body);
  });

  it('texts are stored in NFC, times in UTC, and ids in lower case', async () => {
    const id = newId();
    const { body } = await shop.create('discounts', {
      name: 'Cafe\u0301',
      appliesTo: { productIds: [id.toUpperCase()] },
      from: '2026-12-01T01:00:00+01:00',
    });
    expect(body).toMatchObject({ name: 'Caf\u00e9', appliesTo: { productIds: [id] }, from: early });
  });

  it('amounts are stored as they were written, to the last digit', async () => {
    const { text } = await shop.create('shipping-methods', { price: 999_999_999.99, freeFrom: 0.1 });
    expect(text).toContain('"price":999999999.99,"freeFrom":0.1,');
  });
});

describe('400', () => {
  it.each(refused)('POST /v1/%s returns 400 for %j', async (kind, change, pointer) => {
    const { status, body } = await shop.create(kind, change);
    expect([status, body.code, body.errors]).toEqual([
      400,
      'invalid-request',
      [{ pointer, detail: expect.any(String) }],
    ]);
  });

  it('all faults of a body are in one response, those of the contract and the others', async () => {
    const { body } = await shop.create('discounts', {
      name: '',
      code: ' ',
      value: 12.345,
      minimum: 1.999,
      from: late,
      until: early,
      uses: 0,
      colour: 'red',
    });
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual(
      ['/code', '/colour', '/minimum', '/name', '/until', '/uses', '/value'].sort(),
    );
  });

  it('PATCH checks the whole setting, also what the patch does not name', async () => {
    const { id } = (await shop.create('discounts', { from: early, until: late })).body;
    const faultsOf = async (patch: object) => {
      const { status, body } = await shop.patch('discounts', id, patch);
      return [status, ...(body.errors ?? []).map(({ pointer }: { pointer: string }) => pointer)];
    };
    expect(await faultsOf({ kind: 'free-shipping' })).toEqual([400, '/value']);
    expect(await faultsOf({ value: null })).toEqual([400, '/value']);
    expect(await faultsOf({ from: '2027-01-01T00:00:00Z' })).toEqual([400, '/until']);
    expect(await faultsOf({ value: 12.345, minimum: 1.001 })).toEqual([400, '/minimum', '/value']);
    expect(await faultsOf({ kind: 'free-shipping', value: null, until: null })).toEqual([200]);
  });

  it('PATCH changes one language, one end of the days and one list, and keeps the others', async () => {
    const method = (await shop.create('shipping-methods', { days: { from: 2, to: 4 } })).body;
    const changed = await shop.patch('shipping-methods', method.id, {
      name: { fr: 'Envoi', de: null },
      days: { to: 5 },
    });
    expect(changed.body).toMatchObject({ name: { en: 'Standard', fr: 'Envoi' }, days: { from: 2, to: 5 } });
    expect(changed.body.name).not.toHaveProperty('de');
    const only = await shop.patch('shipping-methods', method.id, { name: { en: null, fr: null } });
    expect(only).toMatchObject({ status: 400, body: { errors: [{ pointer: '/name' }] } });
    const sale = (await shop.create('discounts', { appliesTo: { brands: ['Acme'], groups: ['T-1'] } })).body;
    const narrowed = await shop.patch('discounts', sale.id, { appliesTo: { brands: null } });
    expect(narrowed.body.appliesTo).toEqual({ groups: ['T-1'] });
  });

  it('a discount can get or lose a bound only while another one counts its uses, and a bound can change', async () => {
    const { id } = (await shop.create('discounts', { uses: 5 })).body;
    for (const [patch, pointer] of [
      [{ uses: null }, '/uses'],
      [{ usesPerAccount: 1 }, '/usesPerAccount'],
    ] as const) {
      const answer = await shop.patch('discounts', id, patch);
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
    }
    expect((await shop.patch('discounts', id, { uses: 7 })).body).toMatchObject({ uses: 7, used: 0 });
    const each = (await shop.create('discounts', { usesPerAccount: 1 })).body;
    expect((await shop.patch('discounts', each.id, { uses: 5 })).body).toMatchObject({ uses: 5, used: 0 });
    expect((await shop.patch('discounts', each.id, { uses: null })).body).toMatchObject({ usesPerAccount: 1, used: 0 });
    const lost = await shop.patch('discounts', each.id, { usesPerAccount: null, uses: 5 });
    expect(lost.body.errors.map(({ pointer }) => pointer)).toEqual(['/uses', '/usesPerAccount']);
    const free = (await shop.create('discounts')).body;
    expect((await shop.patch('discounts', free.id, { uses: 5 })).status).toBe(400);
  });
});

describe('another currency', () => {
  it('amounts have the decimals of the currency: none in JPY, three in KWD', async () => {
    for (const [currency, exact, tooFine] of [
      ['JPY', 500, 500.5],
      ['KWD', 1.125, 1.1255],
    ] as const) {
      const other = await startSettingShop({ SHOP_CURRENCY: currency });
      try {
        expect((await other.create('shipping-methods', { price: exact })).body.price).toBe(exact);
        const answer = await other.create('discounts', { kind: 'amount', value: tooFine, minimum: tooFine });
        expect(answer.body.errors).toMatchObject([{ pointer: '/minimum' }, { pointer: '/value' }]);
      } finally {
        await other.services.stop();
      }
    }
  });
});
