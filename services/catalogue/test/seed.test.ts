// Sample products.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startServices, type TestServices } from '@shop/shared/testing';
import { seedDemo, seedProducts } from '../src/operator/index.ts';

let services: TestServices;

beforeAll(async () => {
  services = await startServices(['catalogue']);
});

afterAll(() => services.stop());

const environment = () => ({ DATABASE_URL: services.database.urls.catalogue, SHOP_CURRENCY: 'EUR' });

/** Seeds 12,000 products. @returns how many were added, and each progress that was reported */
async function seed(): Promise<{ added: number; progress: [done: number, added: number][] }> {
  const progress: [number, number][] = [];
  const onProgress = (...each: [number, number]): void => void progress.push(each);
  return { added: await seedProducts(environment(), { count: 12_000, seed: 7, onProgress }), progress };
}

const pool = () => services.service('catalogue').database;
const query = (text: string) => pool().query(text);
const count = async () => (await pool().query('SELECT count(*)::int AS n FROM products')).rows[0].n;

describe('seed', () => {
  it('the command seed adds the demo products to an empty catalogue only', async () => {
    await seedDemo(environment());
    await query("DELETE FROM products WHERE external_key = 'TEA-TOWEL-2'");
    await seedDemo(environment());
    expect(await count()).toBe(127);
    const { rows } = await query(
      `SELECT count(DISTINCT external_key)::int AS skus, count(DISTINCT category)::int AS categories,
         count(DISTINCT coalesce(variant::json->>'group', external_key))::int AS products, min(attributes) AS first
       FROM products`,
    );
    expect(rows[0]).toMatchObject({
      skus: 127,
      categories: 6,
      products: 59,
      first: '{"amount":"100","kind":"voucher"}',
    });
    expect(
      (await query("SELECT 1 FROM products WHERE attribute_terms(attributes) @> ARRAY['colour=red']")).rows.length,
    ).toBeGreaterThan(10);
  });

  it('the command seed adds demo products in variants, with weights, a reduced tax category, and one that is not sent', async () => {
    const { client } = services.service('catalogue');
    const leads = await client.get('/v1/products?variant.group=TEE,BEANS,HANDBOOK&lead=true&sort=name:desc');
    expect(leads.body.items.map(({ name, variant }) => [name, variant])).toEqual([
      ['The Coffee Handbook', { group: 'HANDBOOK', options: { format: 'paperback' } }],
      ['Organic Cotton T-Shirt', { group: 'TEE', options: { colour: 'black', size: 'S' } }],
      ['Espresso Beans', { group: 'BEANS', options: { weight: '250 g' } }],
    ]);
    const shirt = await client.get(`/v1/products/${leads.body.items[1]?.id}`);
    expect(shirt.body.variants).toHaveLength(6);
    const { rows } = await query(
      `SELECT count(*) FILTER (WHERE weight_grams IS NULL)::int AS weightless,
         count(*) FILTER (WHERE is_shipped IS FALSE)::int AS "notSent",
         count(*) FILTER (WHERE tax_category = 'reduced')::int AS reduced FROM products`,
    );
    expect(rows).toEqual([{ weightless: 4, notSent: 4, reduced: 9 }]);
  });

  it('the command seed adds products with their stock in the ledger, and reports its progress', async () => {
    const { added, progress } = await seed();
    expect(added).toBe(12_000);
    expect(progress.at(-1)).toEqual([12_000, 12_000]);
    expect(progress.length).toBeGreaterThan(1);
    expect(await count()).toBe(12_127);
    const { rows } = await pool().query(
      `SELECT count(*) FILTER (WHERE rating_tenths IS NULL) / count(*)::float8 AS unrated,
              count(DISTINCT brand)::int AS brands, count(DISTINCT status)::int AS statuses,
              sum(stock)::int = (SELECT sum(quantity)::int FROM stock_ledger) AS booked
       FROM products`,
    );
    expect(rows[0]).toMatchObject({ statuses: 3, booked: true });
    expect(rows[0].brands).toBeGreaterThan(100);
    expect(rows[0].unrated).toBeCloseTo(1 / 12, 1);
  });

  it('the command seed makes equal products from equal seeds, and returns the number of new ones', async () => {
    expect((await seed()).added).toBe(0);
    expect(await count()).toBe(12_127);
  });

  it('the command seed makes products that the contract permits', async () => {
    const answer = await services.service('catalogue').client.get('/v1/products?limit=100&sort=rating:desc');
    expect(answer.body.items).toHaveLength(100);
  });
});
