// Fills the catalogue with products that look real: the same ones for the same seed. Run as a process of its own.
import { parseArgs } from 'node:util';
import { decimalsOf, StartError } from '@shop/shared/runtime';
import { runCommand, type Say, withDatabase } from '@shop/shared/service';
import type pg from 'pg';
import { readCommandConfig } from './config.ts';
import { type SampleProduct, sampleProducts } from './sample-products.ts';

export interface SeedOptions {
  readonly pool: pg.Pool;
  /** How many products to add. */
  readonly count: number;
  /** Equal seeds and counts make equal products, ids included. */
  readonly seed: number;
  /** Decimals of the shop's currency. */
  readonly decimals: number;
  /** Gets how many are there by now, and how many of them were added. */
  readonly onProgress?: (done: number, added: number) => void;
}

const batchSize = 5_000;
const batchWithin = 300_000;

// One array per column, so that a batch is one statement whatever its size. Stock goes into the book like any other.
const insert = `
  WITH given AS (
    SELECT * FROM unnest(
      $1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::smallint[], $8::text[], $9::integer[],
      $10::timestamptz[]
    ) AS t(id, name, description, brand, category, price_minor, rating_tenths, status, stock, created_at)
  ), added AS (
    INSERT INTO products (
      id, name, description, brand, category, price_minor, rating_tenths, status, stock, created_at, updated_at
    )
    SELECT *, created_at FROM given
    ON CONFLICT DO NOTHING
    RETURNING id, stock
  ), booked AS (
    INSERT INTO stock_ledger (product_id, kind, quantity, stock_after, promised_after)
    SELECT id, 'received', stock, stock, 0 FROM added WHERE stock > 0
  )
  SELECT count(*)::int AS added FROM added`;

/** Adds the products in batches, two at once; those that are there already, by id, stay as they are. */
export async function seedProducts({ pool, count, seed, decimals, onProgress }: SeedOptions): Promise<void> {
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
}

function take(products: Generator<SampleProduct, void>, size: number): SampleProduct[] {
  const taken: SampleProduct[] = [];
  while (taken.length < size) {
    const { value } = products.next();
    if (!value) break;
    taken.push(value);
  }
  return taken;
}

function columnsOf(batch: readonly SampleProduct[]): unknown[] {
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
  ] as const;
  return keys.map((key) => batch.map((product) => product[key]));
}

async function main(say: Say): Promise<void> {
  const { values } = parseArgs({
    options: { products: { type: 'string' }, seed: { type: 'string' }, demo: { type: 'boolean', default: false } },
  });
  const { databaseUrl: url, currency } = readCommandConfig(process.env);
  const count = values.demo ? demoProducts : Number(values.products);
  if (!Number.isInteger(count) || count < 1) throw new StartError('say --products N, or --demo');
  await withDatabase({ url, name: 'seed', statementTimeout: batchWithin }, async ({ pool }) => {
    if (values.demo && (await pool.query('SELECT 1 FROM products LIMIT 1')).rows.length > 0) return;
    await seedProducts({
      pool,
      count,
      seed: values.seed === undefined ? (values.demo ? 1 : Date.now()) : Number(values.seed),
      decimals: decimalsOf(currency),
      onProgress: (done, added) => say({ done, total: count, added }),
    });
  });
}

/** What a new shop shows: enough to browse, little enough to read. */
const demoProducts = 300;

if (import.meta.main) await runCommand('seed', main);
