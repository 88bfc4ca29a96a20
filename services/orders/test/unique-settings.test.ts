// Discount codes and tax rates that may exist once, also under concurrent requests, and the filters of the lists.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { type SettingShop, startSettingShop } from './setting-shop.ts';

let shop: SettingShop;

beforeAll(async () => {
  shop = await startSettingShop();
});
afterAll(() => shop?.services.stop());

const statuses = (answers: readonly { readonly status: number }[]) => answers.map(({ status }) => status).sort();

describe('discount codes', () => {
  it.each([
    ['SUMMER', 'summer'],
    ['AB CD 1', ' ab\tcd1 '],
    ['CAFE\u0301', 'caf\u00e9'],
    ['STRASSE', 'straße'],
  ])('the code %j is taken by %j', async (code, same) => {
    const first = await shop.create('discounts', { code });
    expect(first).toMatchObject({ status: 201, body: { code: code.normalize('NFC') } });
    const second = await shop.create('discounts', { code: same });
    expect(second).toMatchObject({
      status: 409,
      body: { code: 'discount-code-exists', errors: [{ pointer: '/code' }] },
    });
    expect(second.body.errors[0]?.detail).toContain(first.body.id);
  });

  it('of concurrent creations with one code, exactly one succeeds', async () => {
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, index) => shop.create('discounts', { code: `race ${round}`, value: index + 1 })),
      );
      expect(statuses(answers)).toEqual([201, 409, 409, 409, 409, 409]);
    }
  });

  it('of concurrent changes to one code, exactly one succeeds', async () => {
    const ids = await Promise.all(Array.from({ length: 4 }, async () => (await shop.create('discounts')).body.id));
    const answers = await Promise.all(ids.map((id) => shop.patch('discounts', id, { code: 'CHANGED' })));
    expect(statuses(answers)).toEqual([200, 409, 409, 409]);
  });

  it('a discount keeps its own code when it is changed, and gives it up when it gets another one', async () => {
    const { id } = (await shop.create('discounts', { code: 'OWN' })).body;
    expect((await shop.patch('discounts', id, { code: 'own' })).body.code).toBe('own');
    expect((await shop.patch('discounts', id, { code: 'OTHER' })).status).toBe(200);
    expect((await shop.create('discounts', { code: 'OWN' })).status).toBe(201);
    expect((await shop.patch('discounts', id, { code: null })).body).not.toHaveProperty('code');
    expect((await shop.create('discounts', { code: 'OTHER' })).status).toBe(201);
  });

  it('the code of an archived discount can be used again', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { status, body } = await shop.create('discounts', { code: 'AGAIN' });
      expect(status).toBe(201);
      await shop.archive('discounts', body.id);
    }
  });

  it('a refused code is kept under its Idempotency-Key', async () => {
    await shop.create('discounts', { code: 'KEPT' });
    const key = { 'Idempotency-Key': newId() };
    expect((await shop.create('discounts', { code: 'KEPT' }, key)).status).toBe(409);
    const again = await shop.create('discounts', { code: 'KEPT' }, key);
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([409, 'true']);
  });

  it('GET /v1/discounts?code= finds a discount by its code, however it is written', async () => {
    const [one, other] = [
      (await shop.create('discounts', { code: 'Find Me' })).body,
      (await shop.create('discounts', { code: 'FIND ME 2' })).body,
    ];
    const found = async (query: string) =>
      (await shop.list('discounts', query)).body.items.map(({ id }: { id: string }) => id);
    expect(await found('?code=findme')).toEqual([one.id]);
    expect(await found('?code=FINDME,findme2')).toEqual([one.id, other.id]);
    expect(await found('?code=in:FIND%20ME%202,none')).toEqual([other.id]);
    expect(await found('?code=none')).toEqual([]);
  });
});

describe('tax rates', () => {
  const region = () => newId();
  const rate = (change: object) => shop.create('tax-rates', change);

  it('two rates of one country, region, category and beginning are refused', async () => {
    const place = { region: region(), from: '2027-01-01T00:00:00Z' };
    const first = await rate(place);
    expect(first.status).toBe(201);
    const same = await rate({ region: ` ${place.region.toUpperCase()}`, from: '2027-01-01T01:00:00+01:00', rate: 9 });
    expect(same).toMatchObject({ status: 409, body: { code: 'tax-rate-exists', errors: [{ pointer: '/country' }] } });
    expect(same.body.errors[0]?.detail).toContain(first.body.id);
    for (const change of [{ country: 'LI' }, { region: region() }, { category: 'books' }, { from: undefined }])
      expect((await rate({ ...place, ...change })).status).toBe(201);
  });

  it('two rates of a whole country are refused, and an archived one does not count', async () => {
    const whole = { country: 'AT', region: undefined };
    const first = await rate(whole);
    expect([first.status, (await rate(whole)).status]).toEqual([201, 409]);
    await shop.archive('tax-rates', first.body.id);
    expect((await rate(whole)).status).toBe(201);
  });

  it('of concurrent creations of one rate, exactly one succeeds, and a change to an existing one is refused', async () => {
    const place = { region: region() };
    const answers = await Promise.all(Array.from({ length: 5 }, () => rate(place)));
    expect(statuses(answers)).toEqual([201, 409, 409, 409, 409]);
    const other = (await rate({ region: region() })).body;
    expect((await shop.patch('tax-rates', other.id, place)).status).toBe(409);
  });

  it('GET /v1/tax-rates?country= lists the rates of the countries', async () => {
    const ids = [
      (await rate({ country: 'SE', region: undefined })).body.id,
      (await rate({ country: 'NO', region: undefined })).body.id,
    ];
    const found = async (query: string) =>
      (await shop.list('tax-rates', query)).body.items.map(({ id }: { id: string }) => id);
    expect(await found('?country=SE')).toEqual(ids.slice(0, 1));
    expect(await found('?country=SE,NO')).toEqual(ids);
    expect(await shop.list('tax-rates', '?country=Sweden')).toMatchObject({
      status: 400,
      body: { errors: [{ parameter: 'country' }] },
    });
  });
});

describe('shipping methods', () => {
  it('GET /v1/shipping-methods?country= lists the methods that deliver there, by their position, to everyone', async () => {
    const add = async (change: object): Promise<string> => (await shop.create('shipping-methods', change)).body.id;
    const [last, swiss, all, german] = [
      await add({ position: 9, countries: ['CH', 'DE'] }),
      await add({ position: 2, countries: ['CH', 'LI'] }),
      await add({ position: 1 }),
      await add({ position: 2, countries: ['DE'] }),
    ];
    const found = async (query: string) =>
      (await shop.orders.get(`/v1/shipping-methods${query}`)).body.items.map(({ id }: { id: string }) => id);
    expect(await found('?country=CH')).toEqual([all, swiss, last]);
    expect(await found('?country=US')).toEqual([all]);
    expect(await found('?country=LI,DE')).toEqual([all, swiss, german, last]);
    expect(await found('')).toEqual([all, swiss, german, last]);
    expect((await shop.orders.get(`/v1/shipping-methods/${german}`)).status).toBe(200);
    const { status, body } = await shop.orders.get('/v1/shipping-methods?country=ch');
    expect([status, body.errors]).toMatchObject([400, [{ parameter: 'country' }]]);
  });
});
