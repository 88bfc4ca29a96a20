// Adds realistic sample products to the catalogue. Equal seeds make equal products.
import type { Environment } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { findDecimals } from '@shop/shared/shop';
import type pg from 'pg';
import { readCommandConfig } from '../config.ts';
import { demoProducts } from './demo/products.ts';
import { sampleProducts } from './sample-products.ts';
import type { SeedProduct } from './seed-product.ts';

export interface SeedOptions {
  /** How many products to add. */
  readonly count: number;
  /** Equal seeds and counts make equal products, ids included. Default: the time. */
  readonly seed?: number | undefined;
  /** Called after each batch, with the products that exist so far, and how many of them were added. */
  readonly onProgress?: ((done: number, added: number) => void) | undefined;
}

const batchSize = 5_000;
const batchWithin = 300_000;

// One array for each column, so that a batch of any size is one statement. The stock is entered in the ledger.
const insert = `
  WITH given AS (
    SELECT * FROM unnest(
      $1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::smallint[], $8::text[],
      $9::integer[], $10::timestamptz[], $11::text[], $12::text[], $13::integer[], $14::text[], $15::boolean[], $16::text[]
    ) AS t(
      id, name, description, brand, category, price_minor, rating_tenths, status, stock, created_at, external_key,
      attributes, weight_grams, tax_category, is_shipped, variant
    )
  ), added AS (
    INSERT INTO products (
      id, name, description, brand, category, price_minor, rating_tenths, status, stock, created_at, external_key,
      attributes, weight_grams, tax_category, is_shipped, variant, updated_at
    )
    SELECT *, created_at FROM given
    ON CONFLICT DO NOTHING
    RETURNING id, stock
  ), booked AS (
    INSERT INTO stock_ledger (product_id, kind, quantity, stock_after, promised_after)
    SELECT id, 'received', stock, stock, 0 FROM added WHERE stock > 0
  )
  SELECT count(*)::int AS added FROM added`;

/**
 * Adds sample products. An existing product stays unchanged.
 * @param environment the variables of catalogue, of which DATABASE_URL and SHOP_CURRENCY are read
 * @returns the number of added products
 */
export async function seedProducts(environment: Environment, options: SeedOptions): Promise<number> {
  return withCatalogue(environment, (pool, decimals) => addSampleProducts(pool, decimals, options));
}

/** Adds the products of the demo to a new shop, unless the catalogue has any products. */
export async function seedDemo(environment: Environment): Promise<void> {
  await withCatalogue(environment, async (pool, decimals) => {
    if ((await pool.query('SELECT 1 FROM products LIMIT 1')).rows.length > 0) return;
    await pool.query(insert, columnsOf(demoProducts(decimals)));
  });
}

async function withCatalogue<T>(
  environment: Environment,
  use: (pool: pg.Pool, decimals: number) => Promise<T>,
): Promise<T> {
  const { databaseUrl: url, currency } = readCommandConfig(environment);
  return withDatabase({ url, name: 'seed', statementTimeout: batchWithin }, ({ pool }) =>
    use(pool, findDecimals(currency)),
  );
}

/** Writes the products in batches, two at the same time. @returns how many products were added */
export async function addSampleProducts(
  pool: pg.Pool,
  decimals: number,
  { count, seed = Date.now(), onProgress }: SeedOptions,
): Promise<number> {
  const products = sampleProducts(count, seed, decimals);
  let done = 0;
  let added = 0;
  const write = async (): Promise<void> => {
    for (;;) {
      const batch = take(products, batchSize);
      if (batch.length === 0) return;
      const { rows } = await pool.query<{ added: number }>(insert, columnsOf(batch));
      done += batch.length;
      added += rows[0]?.added ?? 0;
      onProgress?.(done, added);
    }
  };
  await Promise.all([write(), write()]);
  return added;
}

function take(products: Generator<SeedProduct, void>, size: number): SeedProduct[] {
  const taken: SeedProduct[] = [];
  while (taken.length < size) {
    const { value } = products.next();
    if (!value) break;
    taken.push(value);
  }
  return taken;
}

/** Returns one array for each column. */
function columnsOf(batch: readonly SeedProduct[]): unknown[] {
  const keys = [
    'id',
    'name',
    'description',
    'brand',
    'category',
    'price',
    'rating',
    'status',
    'stock',
    'createdAt',
    'sku',
    'attributes',
    'weightGrams',
    'taxCategory',
    'isShipped',
    'variant',
  ] as const;
  return keys.map((key) => batch.map((product) => product[key] ?? null));
}
