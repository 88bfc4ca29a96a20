// Exports all products to a file that can be imported again.
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { withClient } from '@shop/shared/database';
import { type Environment, StartError } from '@shop/shared/runtime';
import type pg from 'pg';
import { readCommandConfig } from '../config.ts';
import { type WrittenRow, writtenColumns, writtenLines } from '../product/product-columns.ts';
import { heading, parseFormat, writeLine } from './product-file.ts';
import type { Format } from './values.ts';

export interface ProductExportOptions {
  readonly path: string;
  /** Default: the format of the file name's extension. */
  readonly format?: Format | undefined;
  /** Called after each batch with the number of products that were written so far and the number of all products. */
  readonly onProgress?: (done: number, total: number) => void;
}

const batchSize = 2_000;

// A product without an external key is exported with its id, which identifies it in an import.
const columns = writtenColumns.map((column) =>
  column === 'external_key' ? 'coalesce(external_key, id::text) AS external_key' : column,
);
const products = `SELECT ${columns.join(', ')} FROM products WHERE archived_status IS NULL ORDER BY created_at, id`;

/**
 * Exports the products that are not archived from one snapshot, oldest first. The file appears when it is complete.
 * @param environment the variables of catalogue, of which DATABASE_URL and SHOP_CURRENCY are read
 * @returns the number of products
 * @throws StartError when the format is unknown or the file cannot be written
 */
export async function exportProducts(environment: Environment, options: ProductExportOptions): Promise<number> {
  const format = parseFormat(options.path, options.format);
  const { databaseUrl: url, currency } = readCommandConfig(environment);
  return withClient({ url, name: 'export products' }, (client) => exportFile(client, currency, { ...options, format }));
}

async function exportFile(
  client: pg.Client,
  currency: string,
  { path, ...options }: ProductExportOptions & { readonly format: Format },
): Promise<number> {
  // Two exports may have the same target.
  const partial = `${path}.partial-${process.pid}`;
  let done = 0;
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  try {
    const { rows } = await client.query<{ total: number }>(
      'SELECT count(*)::int AS total FROM products WHERE archived_status IS NULL',
    );
    const total = rows[0]?.total ?? 0;
    const lines = async function* (): AsyncGenerator<string> {
      yield heading(options.format);
      await client.query(`DECLARE exported NO SCROLL CURSOR FOR ${products}`);
      for (;;) {
        const batch = await client.query<WrittenRow>(`FETCH ${batchSize} FROM exported`);
        if (batch.rows.length === 0) return;
        yield batch.rows.map((row) => writeLine(options.format, toMembers(row, currency, options.format))).join('');
        done += batch.rows.length;
        options.onProgress?.(done, total);
      }
    };
    await pipeline(Readable.from(lines()), createWriteStream(partial, { flush: true, mode: 0o600 }));
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

/**
 * Returns the members of a line. It includes empty lists and objects, because an import does not change a member that a
 * line lacks.
 */
function toMembers(row: WrittenRow, currency: string, format: Format): Readonly<Record<string, unknown>> {
  const members = writtenLines.map(({ member, column, type }) => {
    const value = row[column];
    if (value === null) return [member, type.empty ?? null];
    // A cell with an amount has all decimals of the currency.
    const isAmount = format === 'csv' && type.sql === 'bigint' && typeof value !== 'boolean';
    return [member, isAmount ? type.field(currency).toText(value) : type.toMember(value, currency)];
  });
  const { sku: externalKey, ...others } = Object.fromEntries(members);
  return { externalKey, currency, ...others };
}
