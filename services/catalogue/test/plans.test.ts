// Every permitted sort order, alone and with the common filters, reads a page from an index, and every index is used by
// one of them.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Criteria, createCursors, fromBody, fromQuery } from '@shop/shared/collection';
import { newId } from '@shop/shared/runtime';
import { createTestDatabase, nodesOf, type Plan, plansOf as plansIn, type TestDatabase } from '@shop/shared/testing';
import pg from 'pg';
import { findKnown } from '../src/imports/upsert-products.ts';
import { addSampleProducts } from '../src/operator/seed.ts';
import { parseAttributes } from '../src/product/attribute-filters.ts';
import { openProducts, productSpec, staffSpec } from '../src/product/product.ts';
import { findVariant } from '../src/product/variants.ts';

const spec = productSpec('EUR', parseAttributes('colour'));
const limit = 20;
const used = new Set<string>();
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
  // Makes the statistics equal in each run: they cover all rows, and autovacuum does not change them.
  await client.query('SET default_statistics_target = 200');
  await client.query('ALTER TABLE products SET (autovacuum_enabled = false)');
  await client.query('VACUUM (ANALYZE) products');
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

const plansOf = (criteria: Criteria): Promise<Plan[]> => plansIn(client, spec, criteria);

/** Plan nodes that a page must not contain. Sorting is permitted where the pages of the branches are merged. */
function faults(plan: Plan): string[] {
  const all = nodesOf(plan);
  const pages = all
    .filter((node) => node['Node Type'] === 'Limit')
    .reduce((sum, node) => sum + node['Actual Loops'], 0);
  for (const node of all) if (node['Index Name']) used.add(node['Index Name']);
  return all.flatMap((node) => {
    if (node['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'products') return ['reads the whole table'];
    const sorted = (node.Plans?.[0]?.['Actual Rows'] ?? 0) * (node.Plans?.[0]?.['Actual Loops'] ?? 0);
    if (node['Node Type'] === 'Sort' && sorted > (limit + 1) * pages) return [`sorts ${sorted} rows`];
    return [];
  });
}

const sorts = ['createdAt', 'updatedAt', 'name', 'price', 'rating', 'id'].flatMap((field) => [
  `${field}:asc`,
  `${field}:desc`,
]);
const brands = ['Nordwick', 'Ashdale', 'Greyford'];
const filters: Readonly<Record<string, Record<string, string>>> = {
  alone: {},
  'with a price range': { price: 'gte:20,lt:60' },
  'with one brand': { brand: 'Nordwick' },
  'with a list of brands': { brand: brands.join() },
  'with a long list of brands': {
    brand: 'Altberg,Altley,Feldhaus,Berghaus,Lindley,Havenford,Oakton,Stonedale,Winwick,Ashton',
  },
  'with a category': { category: 'Audio / Speaker' },
  'with two categories': { category: 'Audio / Speaker,Garden / Hose' },
  'with a status': { status: 'backorder' },
  'with two statuses': { status: 'available,active' },
  'with a minimal rating': { rating: 'gte:4' },
  'with units in stock': { inStock: 'true' },
  'with no units in stock': { inStock: 'false' },
  'with units in stock of one brand': { inStock: 'true', brand: 'Nordwick' },
  'with units in stock of a category': { inStock: 'true', category: 'Audio / Speaker' },
  'with a time since which they have changed': { updatedAt: 'gte:2026-01-01T00:00:00Z' },
};

describe.each(Object.entries(filters))('%s', (_name, filter) => {
  it.each(sorts)('a page with one criterion reads few rows with sort=%s', async (sort) => {
    // No filter has an index in the order of ids, because customers do not browse by id.
    if (sort.startsWith('id') && Object.keys(filter).length > 0) return;
    for (const plan of await plansOf(fromQuery(spec, { ...filter, sort }))) expect(faults(plan)).toEqual([]);
  });
});

describe('two criteria', () => {
  const pairs = sorts.flatMap((a) => sorts.filter((b) => a.split(':')[0] !== b.split(':')[0]).map((b) => `${a},${b}`));
  it.each(pairs.filter((pair) => !pair.startsWith('id')))(
    'a page with two criteria reads few rows with sort=%s',
    async (sort) => {
      for (const plan of await plansOf(fromQuery(spec, { sort }))) expect(faults(plan)).toEqual([]);
    },
  );
});

describe('alternatives', () => {
  it.each(['createdAt', 'price'])('a page with three `or` groups reads few rows by %s', async (field) => {
    const or = [
      { brand: { eq: 'Nordwick' }, price: { lt: 20 } },
      { brand: { in: brands } },
      { category: { eq: 'Audio / Speaker' } },
    ];
    const sort = [{ field, direction: 'desc' }];
    for (const plan of await plansOf(fromBody(spec, { filters: { or }, sort }))) expect(faults(plan)).toEqual([]);
  });
});

describe('a sku', () => {
  const staff = staffSpec('EUR', parseAttributes('colour'));
  let skus: readonly string[];

  beforeAll(async () => {
    await client.query("UPDATE products SET external_key = 'K-' || stock || '-' || id WHERE stock > 0");
    await client.query('VACUUM (ANALYZE) products');
    const { rows } = await client.query(
      'SELECT external_key AS sku FROM products WHERE stock > 0 ORDER BY name LIMIT 100',
    );
    skus = rows.map(({ sku }) => sku);
  });

  /** Returns the rows that were read by the index of the sku, if each of them was found by this index alone. */
  const readBySku = (plan: Plan): number =>
    nodesOf(plan)
      .filter((node) => node['Index Name'] === 'products_external_key' && node['Node Type'] !== 'Bitmap Index Scan')
      .reduce(
        (sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
        0,
      );

  it.each(sorts)('a sku is read by its index, one and a hundred, with sort=%s', async (sort) => {
    for (const sku of [skus[0] ?? '', skus.map((each) => JSON.stringify(each)).join()]) {
      for (const plan of await plansIn(client, staff, fromQuery(staff, { sku, sort }))) {
        // Rated and unrated products are read by two scans.
        expect(readBySku(plan)).toBeLessThanOrEqual(2 * 100);
        expect(new Set(nodesOf(plan).flatMap((node) => node['Index Name'] ?? []))).toEqual(
          new Set(['products_external_key']),
        );
      }
    }
  });

  it.each(sorts.filter((sort) => !sort.startsWith('id')))(
    'a sku is read by its index in alternatives with sort=%s',
    async (given) => {
      const [field, direction] = given.split(':');
      const or = [
        { sku: { in: skus.slice(0, 20) } },
        { sku: { eq: skus[30] }, price: { lt: 1_000 } },
        { category: { eq: 'Audio / Speaker' } },
      ];
      const criteria = fromBody(staff, { filters: { or }, sort: [{ field, direction }] });
      for (const plan of await plansIn(client, staff, criteria)) {
        expect(faults(plan)).toEqual([]);
        expect(readBySku(plan)).toBeLessThanOrEqual(2 * 21);
      }
    },
  );
});

describe('a rare attribute', () => {
  it.each(sorts)('a page with a rare attribute reads few rows with sort=%s', async (sort) => {
    const query = { 'attributes.colour': 'teal', sort };
    for (const plan of await plansOf(fromQuery(spec, query))) expect(faults(plan)).toEqual([]);
  });
});

describe('a list of ids', () => {
  const others: Readonly<Record<string, Record<string, string>>> = {
    alone: {},
    'with a brand': { brand: 'Nordwick' },
    'with a list of brands': { brand: brands.join() },
    'with units in stock': { inStock: 'true' },
    'with a status': { status: 'available' },
  };
  describe.each(Object.entries(others))('%s', (_name, filter) => {
    it.each([...sorts, 'rating:desc,price:asc'])(
      'a list of 100 products is read by the primary key with sort=%s',
      async (sort) => {
        const { rows } = await client.query('SELECT id FROM products ORDER BY stock, id LIMIT 100');
        const id = rows.map((row) => row.id).join();
        for (const plan of await plansOf(fromQuery(spec, { ...filter, id, sort, limit: '100' }))) {
          const reads = nodesOf(plan).filter((node) => node['Index Name'] !== undefined);
          expect(new Set(reads.map((node) => node['Index Name']))).toEqual(new Set(['products_pkey']));
          for (const { 'Actual Rows': found, 'Rows Removed by Filter': removed = 0 } of reads) {
            expect(found + removed).toBeLessThanOrEqual(100);
          }
        }
      },
    );
  });
});

describe('very many pending products', () => {
  beforeAll(async () => {
    await client.query(`
      INSERT INTO products (id, name, brand, category, price_minor, status)
      SELECT gen_random_uuid(), 'Import', 'Nordwick', 'Audio / Speaker', 100, 'pending'
      FROM generate_series(1, 10000)`);
    await client.query('VACUUM (ANALYZE) products');
  });

  afterAll(async () => {
    await client.query("DELETE FROM products WHERE name = 'Import'");
    await client.query('VACUUM (ANALYZE) products');
  });

  it.each([
    {},
    { sort: 'createdAt:desc' },
    { sort: 'updatedAt:desc' },
    { brand: 'Nordwick' },
    { category: 'Audio / Speaker' },
    { category: 'Audio / Speaker,Garden / Hose' },
  ])('very many pending products are not read for customers by %j', async (query) => {
    for (const plan of await plansOf(fromQuery(spec, query))) {
      expect(faults(plan)).toEqual([]);
      const skipped = nodesOf(plan).map((node) => node['Rows Removed by Filter'] ?? 0);
      expect(Math.max(...skipped)).toBeLessThan(100);
    }
  });

  it.each([{ sort: 'createdAt:asc' }, { sort: 'updatedAt:asc' }, { brand: 'Nordwick' }, { category: 'Garden / Hose' }])(
    'very many pending products are read along an index for staff by %j',
    async (query) => {
      const staff = staffSpec('EUR');
      for (const plan of await plansIn(client, staff, fromQuery(staff, query))) expect(faults(plan)).toEqual([]);
    },
  );
});

describe('the archived products', () => {
  it.each(['', 'createdAt:asc', 'createdAt:desc'])(
    'the archived products are listed by their index with sort=%s',
    async (sort) => {
      await client.query("UPDATE products SET archived_status = status, status = 'pending' WHERE stock = 7");
      await client.query('VACUUM (ANALYZE) products');
      const criteria = fromQuery(staffSpec('EUR'), { archived: 'true', ...(sort && { sort }) });
      for (const plan of await plansIn(client, staffSpec('EUR'), criteria)) {
        expect(faults(plan)).toEqual([]);
        expect(nodesOf(plan).map((node) => node['Index Name'])).toContain('products_archived');
      }
      await client.query(
        'UPDATE products SET status = archived_status, archived_status = NULL WHERE archived_status IS NOT NULL',
      );
      await client.query('VACUUM (ANALYZE) products');
    },
  );
});

describe('variants', () => {
  beforeAll(async () => {
    // Groups of 40 products that follow each other, so that a page of leads would skip nearly 1,000 products.
    await client.query(`
      UPDATE products SET variant = json_build_object('group', 'T-' || place / 40, 'options', json_build_object('size', id))
      FROM (SELECT id AS product, row_number() OVER (ORDER BY created_at) AS place FROM products) AS given
      WHERE id = product AND place > 30000`);
    await client.query('VACUUM (ANALYZE) products');
  });

  it.each(['', 'createdAt:asc', 'createdAt:desc'])(
    'variants are skipped by an index in lists of leads with sort=%s',
    async (sort) => {
      for (const plan of await plansOf(fromQuery(spec, { lead: 'true', ...(sort && { sort }) }))) {
        expect(faults(plan)).toEqual([]);
        expect(nodesOf(plan).flatMap((node) => node['Index Name'] ?? [])).toEqual(['products_lead_created']);
        for (const node of nodesOf(plan)) expect(node['Rows Removed by Filter'] ?? 0).toBe(0);
      }
    },
  );

  it.each(sorts)('variants of one group and of two groups are read by their index with sort=%s', async (sort) => {
    for (const group of ['T-800', 'T-800,T-801']) {
      for (const plan of await plansOf(fromQuery(spec, { 'variant.group': group, sort }))) {
        const reads = nodesOf(plan).filter((node) => node['Index Name'] !== undefined);
        expect(new Set(reads.map((node) => node['Index Name']))).toEqual(new Set(['products_variant_group']));
        for (const node of reads) expect(node['Actual Rows']).toBeLessThanOrEqual(80);
      }
    }
    used.add('products_variant_group');
  });

  it('variants with the same group and options are found by an index', async () => {
    const { rows } = await client.query("SELECT variant FROM products WHERE variant_group = 'T-800' LIMIT 1");
    const explained = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${findVariant}`, [rows[0].variant, newId()]);
    expect(faults(explained.rows[0]['QUERY PLAN'][0].Plan)).toEqual([]);
    expect(used).toContain('products_variant_key');
  });

  it('variants of the group of one product are read by their index', async () => {
    const { columns, collection } = openProducts('EUR', createCursors([Buffer.alloc(32, 1)])).detailFor(undefined);
    const text = `EXPLAIN (ANALYZE, FORMAT JSON) SELECT ${columns} FROM ${collection.spec.from} WHERE id = $1`;
    const { rows } = await client.query("SELECT id FROM products WHERE variant_group = 'T-800' LIMIT 1");
    const plan = (await client.query(text, [rows[0].id])).rows[0]['QUERY PLAN'][0].Plan;
    expect(faults(plan)).not.toContain('reads the whole table');
    const names = nodesOf(plan).flatMap((node) => node['Index Name'] ?? []);
    expect(new Set(names)).toEqual(new Set(['products_pkey', 'products_variant_group']));
  });
});

describe('the products of a batch of imported lines', () => {
  it('the products of a batch of imported lines are found by their keys, and by their ids where they have none', async () => {
    const { rows: known } = await client.query('SELECT id, external_key AS key FROM products LIMIT 500');
    await client.query('SET plan_cache_mode = auto');
    const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${findKnown}`, [
      known.map(({ key }) => key).filter((key) => key !== null),
      known.map(({ id }) => id),
    ]);
    const plan = rows[0]['QUERY PLAN'][0].Plan;
    expect(faults(plan)).not.toContain('reads the whole table');
    expect(nodesOf(plan).map((node) => node['Index Name'])).toContain('products_external_key');
  });
});

describe('indexes', () => {
  it('the indexes are each used by at least one of these pages', async () => {
    const { rows } = await client.query("SELECT indexname FROM pg_indexes WHERE tablename = 'products' ORDER BY 1");
    expect(rows.map(({ indexname }) => indexname).filter((name) => !used.has(name))).toEqual([]);
  });
});
