// `q` of GET /v1/products and of POST /v1/products/search: what a text finds, and in which order.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startServices, type TestClient, type TestServices } from '@shop/shared/testing';
import { addProducts, staffToken } from './products.ts';

let services: TestServices;
let client: TestClient;
const ids = new Map<string, string>();

const products = [
  { name: 'Copper kettle with whistle', brand: 'Nordwick', category: 'Kitchen / Kettles', price: 40, rating: 4.5 },
  { name: 'Kettle', brand: 'Acme', category: 'Kitchen', price: 20, status: 'active' },
  { name: 'Limescale remover', brand: 'Acme', category: 'Kitchen', price: 5, description: 'For every kettle.' },
  { name: 'Desk lamp', brand: 'Lumen', category: 'Light', price: 30 },
  { name: 'Teapot', brand: "O'Neill & Sons", category: 'Kitchen', price: 25 },
  { name: 'Yo-yo', brand: 'Smith', category: 'Toys', price: 6 },
  { name: 'Crème brûlée Schälchen', brand: 'Émile Weiß', category: 'Küche', price: 12 },
  { name: 'Чайник электрический', brand: 'Ёлка', category: 'Кухня', price: 50 },
  { name: '電気ケトル', brand: '山善', category: 'キッチン', price: 60 },
  { name: 'Ηλεκτρικός βραστήρας', brand: 'Ελαία', category: 'Κουζίνα', price: 55 },
  { name: 'غلاية كهربائية', brand: 'النور', category: 'مطبخ', price: 45 },
  { name: 'The Who poster', brand: 'Acme', category: 'Music', price: 9 },
];

beforeAll(async () => {
  services = await startServices(['catalogue']);
  client = services.service('catalogue').client;
  for (const [index, id] of (await addProducts(services, products)).entries()) ids.set(products[index]?.name ?? '', id);
});

afterAll(() => services.stop());

const found = async (q: string, more = ''): Promise<string[]> => {
  const answer = await client.get(`/v1/products?q=${encodeURIComponent(q)}${more}`);
  expect(answer.status).toBe(200);
  return answer.body.items.map(({ name }) => name);
};
const search = (body: unknown) => client.post('/v1/products/search', { body });

const [copper, kettle, remover] = ['Copper kettle with whistle', 'Kettle', 'Limescale remover'];

describe('200', () => {
  it('GET /v1/products with q lists the shortest name first, then longer names, then brands and categories, then descriptions', async () => {
    expect(await found('kettle')).toEqual([kettle, copper, remover]);
    expect(await found('kitchen')).toEqual(['Teapot', kettle, remover, copper]);
  });

  it.each([
    ['words in any order and from any field', 'nordwick kettle copper', [copper]],
    ['capital letters', 'COPPER', [copper]],
    ['plural', 'lamps', ['Desk lamp']],
    ['singular', 'whistles', [copper]],
    ['stop words', 'the kettle for copper', [copper]],
    ['only stop words', 'the who', ['The Who poster']],
    ['punctuation', '"desk", (lamp)!', ['Desk lamp']],
    ['operators of text search', "lamp & !desk | 'x", ['Desk lamp']],
    ['no accents', 'creme brulee', ['Crème brûlée Schälchen']],
    ['decomposed accents', 'cre\u0300me', ['Crème brûlée Schälchen']],
    ['ß', 'weiss', ['Crème brûlée Schälchen']],
    ['an apostrophe left out', 'oneill', ['Teapot']],
    ['a hyphen left out', 'yoyo', ['Yo-yo']],
    ['a blank instead of a hyphen', 'yo yo', ['Yo-yo']],
    ['a compound in two words', 'tea pot', ['Teapot']],
    ['two words as a compound', 'desklamp', ['Desk lamp']],
    ['Cyrillic in capital letters', 'ЧАЙНИК', ['Чайник электрический']],
    ['Cyrillic plural', 'чайники', ['Чайник электрический']],
    ['ё as е', 'елка', ['Чайник электрический']],
    ['Greek without accents', 'ΒΡΑΣΤΗΡΑΣ', ['Ηλεκτρικός βραστήρας']],
    ['Arabic', 'غلاية', ['غلاية كهربائية']],
    ['a part of Japanese text', 'ケトル', ['電気ケトル']],
    ['one character of Japanese text', '電', ['電気ケトル']],
    ['a replaced letter', 'kittle', [kettle, copper, remover]],
    ['a missing letter', 'coper ketle', [copper]],
    ['swapped letters', 'lmap', ['Desk lamp']],
    ['an error beside an ending', 'kettels whistels', [copper]],
    ['two errors in a long word', 'shcaelchen', ['Crème brûlée Schälchen']],
    ['two errors in a word of eight letters', 'limscael', [remover]],
    ['a typing error in Cyrillic', 'чяйник', ['Чайник электрический']],
    ['the beginning of a word', 'nordw', [copper]],
    ['a word that nothing resembles beside known ones', 'zzzzqqq copper kettle', [copper]],
    ['known words that no product has together', 'copper lamp', []],
    ['a word that nothing resembles', 'zzzzqqq', []],
  ])('GET /v1/products with q corrects or finds: %s', async (_what, q, expected) => {
    expect(await found(q)).toEqual(expected);
  });

  it.each([
    ['&price=lt:10', [remover]],
    ['&brand=Acme', [kettle, remover]],
    ['&status=active', [kettle]],
    ['&rating=gte:4', [copper]],
    ['&price=gte:20,lt:10', []],
    ['&sort=price:asc', [remover, kettle, copper]],
    ['&sort=rating:desc,name:asc', [copper, kettle, remover]],
    ['&sort=price:asc&brand=Acme,Nordwick&price=lt:30', [remover, kettle]],
  ])('GET /v1/products with q=kettle%s returns the matching products', async (more, expected) => {
    expect(await found('kettle', more)).toEqual(expected);
  });

  it('GET /v1/products with q searches within alternatives', async () => {
    const filters = { or: [{ price: { lt: 10 } }, { brand: { eq: 'Nordwick' } }] };
    const names = async (body: object) =>
      (await search({ q: 'kettle', filters, ...body })).body.items.map(({ name }) => name);
    expect(await names({})).toEqual([copper, remover]);
    expect(await names({ sort: [{ field: 'price', direction: 'asc' }] })).toEqual([remover, copper]);
  });

  it.each(['', '&sort=price:desc', '&brand=Acme,Nordwick'])(
    'GET /v1/products with q has pages%s, also in the other notation',
    async (more) => {
      const whole = await found('kettle', more);
      const first = await client.get(`/v1/products?q=kettle${more}&limit=1&fields=name`);
      expect(first.body.items).toEqual([{ name: whole[0] }]);
      const [, next = ''] = /^<(.*)>; rel="next"$/.exec(first.headers.link ?? '') ?? [];
      const second = await client.get(next);
      expect(second.body.items).toEqual([{ name: whole[1] }]);
      if (more !== '') return;
      const { nextCursor: cursor } = first.body.pagination;
      const { body } = await search({ q: 'kettle', pagination: { cursor } });
      expect(body.items.map(({ name }) => name)).toEqual(whole.slice(1));
      expect(body.pagination).toEqual({ limit: 20, hasMore: false });
    },
  );

  it('the pages of a search contain each unchanged product once while others are added, renamed and restocked', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `Sprocket ${'part '.repeat(index % 4)}${index}`);
    const added = await addProducts(
      services,
      names.map((name) => ({ name, brand: 'Gears' })),
    );
    const token = await staffToken(services);
    const seen: string[] = [];
    let cursor = '';
    for (let page = 0; cursor !== '' || page === 0; page += 1) {
      const { body } = await client.get(`/v1/products?q=sprocket&limit=4${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.items.map(({ id }) => id));
      cursor = body.pagination.nextCursor ?? '';
      await addProducts(services, [{ name: 'Sprocket' }, { name: `Sprocket ${'part '.repeat(5)}` }]);
      const body2 = { stock: { adjust: 1 } };
      await client.patch(`/v1/products/${added[page]}`, { token, body: body2 });
    }
    const counted = new Map(added.map((id) => [id, seen.filter((each) => each === id).length]));
    expect([...counted.values()].every((count) => count === 1)).toBe(true);
  });

  it('the pages of a search retain the corrected words', async () => {
    await addProducts(services, [{ name: 'Wrench one' }, { name: 'Wrench two' }]);
    const first = await client.get('/v1/products?q=wrnech&limit=1');
    expect(first.body.items).toHaveLength(1);
    await addProducts(services, [{ name: 'Wrnech' }]);
    const [, next = ''] = /^<(.*)>; rel="next"$/.exec(first.headers.link ?? '') ?? [];
    expect((await client.get(next)).body.items.map(({ name }) => name)).toEqual(['Wrench one']);
    expect(await found('wrnech')).toEqual(['Wrnech']);
  });

  it('GET /v1/products with q finds a renamed product by its new words only', async () => {
    const [id] = await addProducts(services, [{ name: 'Obelisk', description: 'Made of granite.' }]);
    await client.patch(`/v1/products/${id}`, { token: await staffToken(services), body: { name: 'Column' } });
    expect(await found('obelisk')).toEqual([]);
    expect(await found('column granite')).toEqual(['Column']);
  });

  it('a change of only stock, price or rating does not touch the search data', async () => {
    const { database } = services.service('catalogue');
    const id = ids.get('Teapot');
    const version = async () =>
      (await database.query('SELECT xmin::text, ctid::text FROM product_search WHERE product_id = $1', [id])).rows[0];
    const before = await version();
    const body = { price: 26, rating: 4, stock: { adjust: 7 } };
    expect((await client.patch(`/v1/products/${id}`, { token: await staffToken(services), body })).status).toBe(200);
    expect(await version()).toEqual(before);
  });

  it('concurrent transactions that add the same new words in another order do not block a search', async () => {
    const { database } = services.service('catalogue');
    const insert = `
      INSERT INTO products (id, name, brand, category, price_minor, status)
      SELECT gen_random_uuid(), name, 'Acme', 'things', 1, 'active' FROM unnest($1::text[]) AS name`;
    const words = Array.from({ length: 26 }, (_, index) => `raced${String.fromCharCode(97 + index).repeat(3)}`);
    const lists = Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? words : words.toReversed()));
    await Promise.all(lists.map((names) => database.query(insert, [names])));
    expect(await found('racedzz')).toEqual(Array(8).fill('racedzzz'));
    const { rows } = await database.query("SELECT count(*)::int AS known FROM search_words WHERE word LIKE 'raced%'");
    expect(rows).toEqual([{ known: words.length }]);
  });

  it('GET /v1/products with q accepts words of the greatest length, and text that is one word', async () => {
    const name = 'y'.repeat(200);
    await addProducts(services, [{ name, brand: 'é'.repeat(100), description: '語'.repeat(5000) }]);
    await addProducts(services, [{ name: 'Long', description: 'z'.repeat(5000) }]);
    expect(await found('é'.repeat(100))).toEqual([name]);
    expect(await found('語'.repeat(100))).toEqual([name]);
  });
});

describe('400', () => {
  it.each(['', '%20', '!%3F', 'a'.repeat(101), '%00', '%ff', 'a&q=b'])(
    'GET /v1/products returns 400 for q=%s',
    async (q) => {
      const answer = await client.get(`/v1/products?q=${q}`);
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-request' } });
      expect(answer.body.errors.map(({ parameter }) => parameter)).toEqual(['q']);
    },
  );

  it.each(['', ' ', 7, null, ['a'], 'a'.repeat(101), '\ud800', '\u0000'])(
    'POST /v1/products/search returns 400 for q: %j',
    async (q) => {
      const answer = await search({ q });
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-request' } });
    },
  );

  it('GET /v1/products with q returns 400 for the cursor of another search, of another order, and of the list', async () => {
    const cursorOf = async (query: string) =>
      (await client.get(`/v1/products?limit=1${query}`)).body.pagination.nextCursor;
    const cursor = await cursorOf('&q=kettle');
    for (const query of [
      `q=lamp&cursor=${cursor}`,
      `q=kettle&sort=createdAt:desc&cursor=${cursor}`,
      `q=kettle&brand=Acme&cursor=${cursor}`,
      `cursor=${cursor}`,
      `q=kettle&cursor=${await cursorOf('')}`,
      `q=kettle&cursor=${await cursorOf('&q=kettle&sort=price:asc')}`,
    ]) {
      const answer = await client.get(`/v1/products?${query}`);
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-cursor' } });
    }
  });
});

describe('422', () => {
  it('GET /v1/products with q proposes the nearest search, with its search string and without an additional order', async () => {
    const brand = Array.from({ length: 101 }, (_, index) => `b${index}`);
    const listed = await client.get(`/v1/products?q=kettle&brand=${brand.join()}`);
    expect(listed).toMatchObject({ status: 422, body: { code: 'query-too-costly' } });
    expect(String(listed.body.nearest)).toMatch(/^q=kettle&brand=/);
    expect(String(listed.body.nearest)).not.toContain('sort=');
    expect((await client.get(`/v1/products?${listed.body.nearest}`)).status).toBe(200);
    const searched = await search({ q: 'kettle', filters: { brand: { in: brand } } });
    expect(searched).toMatchObject({ status: 422, body: { nearest: { q: 'kettle' } } });
    expect((await search(searched.body.nearest)).status).toBe(200);
  });
});
