// A search that finds too many products to rank them as a whole: every product once, in the same order on each page.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startServices, type TestService, type TestServices } from '@shop/shared/testing';
import { addProducts } from './products.ts';

const count = 12_000;
let services: TestServices;
let catalogue: TestService;

// Ids are of version 7, as those of the service.
const insert = `
  INSERT INTO products (id, name, brand, category, price_minor, status, stock)
  SELECT overlay(gen_random_uuid()::text PLACING '01931f6e-2d00-7' FROM 1 FOR 15)::uuid,
    'Bolt' || repeat(' steel', n % 3) || CASE n % 1200 WHEN 0 THEN ' rare' ELSE '' END, 'Brand ' || n % 3, 'Screws', n % 100, 'active', 1
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
  it('lists each one once while others are added, the shortest names of each part first', async () => {
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
  ])('lists each one of %s once', async (filter, expected) => {
    const { ids } = await walk(`q=bolt&${filter}`);
    expect(new Set(ids).size).toBe(ids.length);
    if (expected !== undefined) expect(ids.length).toBeGreaterThanOrEqual(expected);
  });

  it('ranks the few that also have a rare word as a whole', async () => {
    const { ids, pages } = await walk('q=rare+bolt');
    expect([ids.length, pages]).toEqual([10, 1]);
  });
});
