// Every statement of a search, of the lists of names and of facets reads an index, and never the whole table.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createCursors, fromBody } from '@shop/shared/collection';
import { createTestDatabase, nodesOf, type Plan, type TestDatabase } from '@shop/shared/testing';
import pg from 'pg';
import { addSampleProducts } from '../src/operator/seed.ts';
import { readNames } from '../src/product/name-counts.ts';
import { openProducts } from '../src/product/product.ts';
import { readProductPage } from '../src/product/product-page.ts';
import { openProductReads } from '../src/product/product-reads.ts';

const { names, ...products } = openProducts('EUR', createCursors([Buffer.alloc(32, 1)]));
const { collection } = products.viewFor(undefined);
let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase(['catalogue']);
  const pool = new pg.Pool({ connectionString: database.urls.catalogue });
  pool.on('error', () => {}); // its database may be dropped before its last connection has closed
  await addSampleProducts(pool, 2, { count: 40_000, seed: 3 });
  await pool.end();
  client = new pg.Client({ connectionString: database.urls.catalogue });
  await client.connect();
  // Makes the statistics equal in each run: a target of 300 takes up to 90,000 rows as the sample, which is all of each
  // table, and autovacuum does not change them.
  await client.query('SET default_statistics_target = 300');
  for (const table of ['products', 'product_search'])
    await client.query(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
  await client.query('VACUUM (ANALYZE)');
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

/** Calls `read`, and returns the plan of each statement that it runs. */
async function plansOf(read: (on: Pick<pg.Pool, 'query'>) => Promise<unknown>): Promise<Plan[]> {
  const plans: Plan[] = [];
  const query = async (config: pg.QueryArrayConfig) => {
    const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${config.text}`, config.values as unknown[]);
    plans.push(rows[0]['QUERY PLAN'][0].Plan);
    return client.query({ ...config, name: '' });
  };
  await read({ query } as Pick<pg.Pool, 'query'>);
  return plans;
}

function wholeTables(plans: readonly Plan[]): string[] {
  return plans
    .flatMap(nodesOf)
    .filter((node) => node['Node Type'] === 'Seq Scan')
    .flatMap((node) => node['Relation Name'] ?? []);
}

const indexes = (plans: readonly Plan[]) => plans.flatMap(nodesOf).map((node) => node['Index Name']);

const read = (primary: Pick<pg.Pool, 'query'>, body: Record<string, unknown>) =>
  readProductPage(
    openProductReads({ primary, replica: undefined, pages: undefined }),
    { caller: undefined, cacheWith: () => {} },
    {
      collection,
      criteria: fromBody(collection.spec, body),
      text: typeof body.q === 'string' ? body.q : undefined,
      isSorted: body.sort !== undefined,
      facets: Array.isArray(body.facets) ? body.facets : [],
      withoutFacets: {},
      decimals: 2,
    },
  );

const page = (body: Record<string, unknown>) => plansOf((on) => read(on, body));

const sort = [{ field: 'price', direction: 'asc' }];

describe('a search', () => {
  it.each([
    ['a rare word', { q: 'spotlight' }],
    ['several words', { q: 'oak desk lamp' }],
    ['a word of all descriptions', { q: 'repaired' }],
    ['a typing error', { q: 'spotlihgt' }],
    ['unknown words', { q: 'qqqqzzzz xxxxwwww' }],
    ['a brand', { q: 'lamp', filters: { brand: { eq: 'Nordwick' } } }],
    ['a price range', { q: 'repaired', filters: { price: { gte: 10, lt: 20 } } }],
    ['alternatives', { q: 'lamp', filters: { or: [{ brand: { eq: 'Nordwick' } }, { price: { lt: 5 } }] } }],
    ['the lowest price first', { q: 'spotlight', sort }],
    ['the lowest price of many first', { q: 'repaired', sort }],
    ['a category, the lowest price first', { q: 'steel', filters: { category: { eq: 'Garden / Hose' } }, sort }],
    ['facets', { q: 'oak desk lamp', facets: ['brand', 'category', 'price'] }],
  ])('a search for %s reads no whole table', async (_what, body) => {
    const plans = await page(body);
    expect(wholeTables(plans)).toEqual([]);
    expect(plans.length).toBeGreaterThan(1);
  });

  it('a search uses both indexes of words', async () => {
    const used = indexes(await page({ q: 'spotlihgt' }));
    for (const index of ['product_search_lexemes', 'search_words_keys', 'search_words_pkey'])
      expect(used).toContain(index);
  });
});

describe('a sorted search whose words the first products of the order do not have', () => {
  const few = { q: 'anvil', sort, pagination: { limit: 5 } };

  beforeAll(async () => {
    await client.query(`
      INSERT INTO products (id, name, brand, category, price_minor, status)
      SELECT gen_random_uuid(), 'Anvil', 'Acme', 'Forge', 90000000 + n, 'active' FROM generate_series(1, 20) AS n`);
    await client.query(`
      INSERT INTO product_search (product_id, name_words, name_lexemes, lexemes)
      SELECT gen_random_uuid(), 1, '', array_to_tsvector(ARRAY['anvil', '#' || part, '%' || part / 32])
      FROM generate_series(1, 31) CROSS JOIN generate_series(0, 1023) AS part`);
    await client.query('VACUUM (ANALYZE)');
  });

  it.each([
    ['without a filter', {}, 20_000],
    ['with a filter that keeps few', { price: { gte: 1 } }, 0],
  ])('a sorted search for rare words reads a bounded number of products: %s', async (_what, filters, most) => {
    const plans = await page({ ...few, filters });
    expect(wholeTables(plans)).toEqual([]);
    const scans = plans.flatMap(nodesOf).filter((node) => node['Index Name'] === 'products_price');
    expect(scans.map((node) => Number(node['Actual Rows'])).filter((rows) => rows > most)).toEqual([]);
  });

  it('a sorted search whose words the first products of the order do not have lists the cheapest ones', async () => {
    const { json } = await read(client as unknown as Pick<pg.Pool, 'query'>, { ...few, fields: ['price'] });
    expect(JSON.parse(String(json)).items.map(({ price }: { price: number }) => price)).toEqual([
      900_000.01, 900_000.02, 900_000.03, 900_000.04, 900_000.05,
    ]);
  });
});

describe('a sorted search for a word of all descriptions with a filter that few products meet', () => {
  it.each([
    ['the price', { price: { gte: 900 } }],
    ['the rating', { rating: { lt: 2 } }],
    ['two names', { name: { in: ['Classic Oak Pan 226', 'Light Wool Rug 300'] } }],
  ])(
    'a sorted search for a word of all descriptions with a filter that few products meet reads the products that meet it, by %s',
    async (_what, filters) => {
      for (const field of ['price', 'createdAt', 'rating']) {
        const plans = await page({ q: 'repaired', filters, sort: [{ field, direction: 'desc' }] });
        expect(wholeTables(plans)).toEqual([]);
        const read = plans
          .flatMap(nodesOf)
          .filter((node) => node['Relation Name'] === 'products')
          .reduce(
            (sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
            0,
          );
        expect([field, read < 2_000 ? 'few' : read]).toEqual([field, 'few']);
      }
    },
  );
});

describe('facets', () => {
  it.each([
    ['a brand', { brand: { eq: 'Nordwick' } }],
    ['two categories', { category: { in: ['Audio / Speaker', 'Garden / Hose'] } }],
    ['a narrow price range', { price: { gte: 20, lt: 21 } }],
  ])('facets of %s read no whole table', async (_what, filters) => {
    expect(wholeTables(await page({ filters, facets: ['price', 'brand'] }))).toEqual([]);
  });
});

describe('brands and categories', () => {
  beforeAll(async () => {
    await client.query(`
      INSERT INTO products (id, name, brand, category, price_minor, status)
      SELECT gen_random_uuid(), 'Import', 'Aaa', 'Aaa', 100, 'pending' FROM generate_series(1, 10000)`);
    await client.query('VACUUM (ANALYZE)');
  });

  it.each(['brands', 'categories'] as const)(
    'the list of %s takes one step in an index for each name',
    async (list) => {
      const { [list]: own } = names;
      const criteria = fromBody(own.spec, {});
      const plans = await plansOf((on) => readNames({ list, collection: own, criteria, on, url: '/' }));
      expect(wholeTables(plans)).toEqual([]);
      // Brands and categories that only pending products have are not read.
      const skipped = plans.flatMap(nodesOf).map((node) => node['Rows Removed by Filter'] ?? 0);
      expect(Math.max(...skipped)).toBeLessThan(100);
    },
  );
});
