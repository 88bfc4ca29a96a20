// A search that finds too many products to rank them as a whole: every product once, in the same order on each page.
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createCursors, fromBody } from '@shop/shared/collection';
import { startServices, type TestService, type TestServices } from '@shop/shared/testing';
import type pg from 'pg';
import { openProducts } from '../src/product/product.ts';
import { readProductPage } from '../src/product/product-page.ts';
import { openProductReads } from '../src/product/product-reads.ts';
import { addProducts } from './products.ts';

const count = 12_000;
let services: TestServices;
let catalogue: TestService;

// The ids have version 7, as those of the service do.
const insert = `
  INSERT INTO products (id, name, brand, category, price_minor, status, stock)
  SELECT overlay(gen_random_uuid()::text PLACING '01931f6e-2d00-7' FROM 1 FOR 15)::uuid,
    'Bolt' || repeat(' steel', n % 3) || CASE n % 1200 WHEN 0 THEN ' rare' ELSE '' END,
    'Brand ' || n % 3, 'Screws', n % 100, 'active', 1
  FROM generate_series(1, $1::int) AS n`;

beforeAll(async () => {
  services = await startServices(['catalogue']);
  catalogue = services.service('catalogue');
  await catalogue.database.query(insert, [count]);
  await catalogue.database.query('ANALYZE');
});

afterAll(() => services.stop());

interface Walk {
  readonly ids: string[];
  readonly names: string[];
  readonly pages: number;
}

async function walk(query: string, between: (page: number) => Promise<unknown> = async () => {}): Promise<Walk> {
  const [ids, names]: string[][] = [[], []];
  let cursor = '';
  let pages = 0;
  do {
    const { body } = await catalogue.client.get(`/v1/products?${query}&limit=100${cursor && `&cursor=${cursor}`}`);
    ids?.push(...body.items.map(({ id }) => id));
    names?.push(...body.items.map(({ name }) => name));
    cursor = body.pagination.nextCursor ?? '';
    await between(pages);
    pages += 1;
  } while (cursor !== '');
  return { ids: ids ?? [], names: names ?? [], pages };
}

describe('a search that finds every product', () => {
  it('a search that finds every product lists each one once while others are added, the shortest names of each part first', async () => {
    const { rows } = await catalogue.database.query<{ id: string }>("SELECT id FROM products WHERE name LIKE 'Bolt%'");
    const { ids, names } = await walk('q=bolts', async (page) => {
      if (page % 20 === 0) await addProducts(services, [{ name: 'Bolt' }, { name: 'Bolt of steel' }]);
    });
    const seen = new Map<string, number>();
    for (const id of ids) seen.set(id, (seen.get(id) ?? 0) + 1);
    expect(Math.max(...seen.values())).toBe(1);
    expect(rows.filter(({ id }) => !seen.has(id))).toEqual([]);
    // The first part has about 375 products, of which a third have the shortest name.
    expect(new Set(names.slice(0, 80))).toEqual(new Set(['Bolt']));
  });

  it.each([
    ['brand=Brand%201', count / 3],
    ['price=gte:0.50', count / 2],
    ['brand=Brand%201&price=lt:0.10', count / 30],
    ['sort=price:desc', undefined],
  ])('a search that finds every product lists each one of %s once', async (filter, expected) => {
    const { ids } = await walk(`q=bolt&${filter}`);
    expect(new Set(ids).size).toBe(ids.length);
    if (expected !== undefined) expect(ids.length).toBeGreaterThanOrEqual(expected);
  });

  it('a search that finds every product ranks the few that also have a rare word as a whole', async () => {
    const { ids, pages } = await walk('q=rare+bolt');
    expect([ids.length, pages]).toEqual([10, 1]);
  });
});

describe('a search that finds very many products, of which a filter keeps few', () => {
  const { collection } = openProducts('EUR', createCursors([Buffer.alloc(32, 1)])).viewFor(undefined);
  const texts: string[] = [];
  const query = (config: pg.QueryArrayConfig) => {
    texts.push(config.text);
    return catalogue.database.query(config);
  };
  const primary = { query } as unknown as Pick<pg.Pool, 'query'>;
  const read = () =>
    readProductPage(
      openProductReads({ primary, replica: undefined, pages: undefined }),
      { caller: undefined, cacheWith: () => {} },
      {
        collection,
        criteria: fromBody(collection.spec, { filters: { price: { gte: 7, lt: 8 } } }),
        text: 'hinge',
        isSorted: false,
        facets: [],
        withoutFacets: {},
        decimals: 2,
      },
    );

  beforeAll(async () => {
    // The sample contains these four products, which leads to an estimate of 2,048.
    await catalogue.database.query(`
      INSERT INTO products (id, name, brand, category, price_minor, status)
      SELECT id, 'Hinge', 'Acme', 'Parts', 750, 'active'
      FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 20000)) AS made
      WHERE uuid_hash_extended(id, 0) & 1023 < 2 LIMIT 4`);
    await catalogue.database.query(`
      INSERT INTO product_search (product_id, name_words, name_lexemes, lexemes)
      SELECT gen_random_uuid(), 1, '', array_to_tsvector(ARRAY['hing', '#' || part, '%' || part / 32])
      FROM generate_series(1, 130) CROSS JOIN generate_series(0, 1023) AS part`);
  });

  it('a search that finds very many products, of which a filter keeps few reads large windows', async () => {
    texts.length = 0;
    const { json } = await read();
    expect(JSON.parse(String(json)).items).toHaveLength(4);
    expect(texts.length).toBeGreaterThan(32);
    expect(texts.length).toBeLessThan(40);
  });

  it('a search that finds very many products, of which a filter keeps few ends after five seconds', async () => {
    let time = Date.now();
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => {
      time += 500;
      return time;
    });
    texts.length = 0;
    await expect(read()).rejects.toMatchObject({ code: 'query-too-costly' });
    clock.mockRestore();
    expect(texts.length).toBeLessThan(15);
  });
});
