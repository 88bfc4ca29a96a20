// Writes all products into a file that the import takes back. Run as a process of its own: FILE.
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { decimal } from '@shop/shared/collection';
import { withClient } from '@shop/shared/database';
import { decimalsOf, StartError } from '@shop/shared/runtime';
import { runCommand, type Say } from '@shop/shared/service';
import type pg from 'pg';
import { readCommandConfig } from './config.ts';
import { type Format, formatOf, heading, writeLine } from './product-file.ts';
import type { WrittenRow } from './product-input.ts';

export interface ExportOptions {
  readonly client: pg.Client;
  readonly currency: string;
  readonly path: string;
  readonly format: Format;
  readonly onProgress?: (done: number, total: number) => void;
}

interface ExportedRow extends Omit<WrittenRow, 'price_minor'> {
  readonly external_key: string;
  readonly price_minor: string;
}

const batchSize = 2_000;

// A product without an external key is known by its id, also when it is imported again.
const products = `
  SELECT coalesce(external_key, id::text) AS external_key, name, description, brand, category, price_minor, rating_tenths,
    status, stock
  FROM products ORDER BY created_at, id`;

/** All products as they are at one moment, in the order of their making. The file is there whole or not at all. */
async function exportProducts({ client, path, ...options }: ExportOptions): Promise<number> {
  const partial = `${path}.partial`;
  let done = 0;
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  try {
    const { rows } = await client.query<{ total: number }>('SELECT count(*)::int AS total FROM products');
    const total = rows[0]?.total ?? 0;
    const price = decimal(decimalsOf(options.currency));
    const lines = async function* (): AsyncGenerator<string> {
      yield heading(options.format);
      await client.query(`DECLARE exported NO SCROLL CURSOR FOR ${products}`);
      for (;;) {
        const batch = await client.query<ExportedRow>(`FETCH ${batchSize} FROM exported`);
        if (batch.rows.length === 0) return;
        yield batch.rows.map((row) => writeLine(options.format, toMembers(row))).join('');
        done += batch.rows.length;
        options.onProgress?.(done, total);
      }
    };
    const toMembers = (row: ExportedRow): Readonly<Record<string, string | number | null>> => ({
      externalKey: row.external_key,
      name: row.name,
      description: row.description,
      brand: row.brand,
      category: row.category,
      price: options.format === 'csv' ? price.toText(row.price_minor) : Number(price.toText(row.price_minor)),
      currency: options.currency,
      rating: row.rating_tenths === null ? null : row.rating_tenths / 10,
      status: row.status,
      stock: row.stock,
    });
    await pipeline(Readable.from(lines()), createWriteStream(partial, { flush: true }));
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined || code === 'ECONNRESET') throw error;
    throw new StartError(`cannot write ${path} (${code})`);
  } finally {
    await client.query('ROLLBACK').catch(() => {});
  }
  return done;
}

/** Writes `{done, total}` in products after each batch, and `{products}` at last, a line of JSON each. */
async function main(say: Say): Promise<void> {
  const { values, positionals } = parseArgs({ options: { format: { type: 'string' } }, allowPositionals: true });
  const [path] = positionals;
  if (path === undefined) throw new StartError('use: FILE');
  const format = formatOf(path, values.format);
  const { databaseUrl: url, currency } = readCommandConfig(process.env);
  const onProgress = (done: number, total: number): void => say({ done, total });
  const products = await withClient({ url, name: 'export-products' }, (client) =>
    exportProducts({ client, currency, path, format, onProgress }),
  );
  say({ products });
}

if (import.meta.main) await runCommand('export-products', main);
