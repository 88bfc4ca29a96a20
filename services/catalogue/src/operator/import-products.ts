// Imports products from a file, in batches of one transaction each.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertCurrency, type Database, sql, type Transaction } from '@shop/shared/database';
import { type Environment, StartError } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { readCommandConfig } from '../config.ts';
import { forgetKeys, importLines, importLock, retryTakenKey } from '../imports/import-lines.ts';
import {
  type CheckLine,
  createLineCheck,
  type ImportedProduct,
  type RefusedLine,
} from '../imports/imported-product.ts';
import { type ProductFile, parseFormat, readProductFile } from './product-file.ts';
import { openReport } from './refused-lines.ts';
import type { Format } from './values.ts';

export interface ProductImportOptions {
  readonly path: string;
  /** Default: the format of the file name's extension. */
  readonly format?: Format | undefined;
  /** Whether to remove members that have no column in the CSV file. By default, known products retain them. */
  readonly replace?: boolean | undefined;
  /** The path of the report for rejected lines. */
  readonly refused: string;
  /** Called after each batch, with the bytes that were read so far and the size of the file. */
  readonly onProgress?: (done: number, total: number) => void;
}

export interface ImportResult {
  /**
   * The last line that an interrupted import of the same file has processed; 0 when this import starts at the
   * beginning.
   */
  readonly resumedAfterLine: number;
  /** The number of created products in the whole file, including the part of an interrupted import. */
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly refused: number;
}

interface Progress {
  readonly line: number;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly refused: number;
}

const batchSize = 1_000;
const batchWithin = 120_000;
const lockWithin = 3_000;

const saveProgress = `
  INSERT INTO product_imports (digest, line, created, changed, unchanged, refused) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (digest) DO UPDATE SET line = excluded.line, created = excluded.created, changed = excluded.changed,
    unchanged = excluded.unchanged, refused = excluded.refused, updated_at = now()`;

/**
 * Imports a file. After an interrupted import of the same content, it continues after the last committed batch.
 * @param environment the variables of catalogue, of which DATABASE_URL and SHOP_CURRENCY are read
 * @throws StartError when the file cannot be read, its format is unknown, the report would replace it, or another
 * import runs
 */
export async function importProducts(environment: Environment, options: ProductImportOptions): Promise<ImportResult> {
  const { databaseUrl: url, currency } = readCommandConfig(environment);
  const format = parseFormat(options.path, options.format);
  return withDatabase({ url, name: 'import products', statementTimeout: batchWithin }, async (database) => {
    await assertCurrency(database.pool, currency);
    return onlyOne(database, () => importFile(database, currency, { ...options, format }));
  });
}

async function importFile(
  database: Database,
  currency: string,
  options: ProductImportOptions & { readonly format: Format },
): Promise<ImportResult> {
  const { path, onProgress, replace = false } = options;
  const digest = await digestOf(path, replace ? 'replace' : '');
  if (await isSameFile(path, options.refused)) {
    throw new StartError(`the report of refused lines would replace ${path}: name another --refused`);
  }
  // The lock waits for a COMMIT that a killed process has sent and the server has not finished.
  const { rows } = await database.pool.query<Progress>(
    'SELECT line, created, changed, unchanged, refused FROM product_imports WHERE digest = $1 FOR UPDATE',
    [digest],
  );
  let progress: Progress = rows[0] ?? { line: 0, created: 0, changed: 0, unchanged: 0, refused: 0 };
  const resumedAfterLine = progress.line;
  const report = await openReport(options.refused, resumedAfterLine);
  const { size: total } = await stat(path);
  const file = readProductFile(path, options.format, currency);
  const write = async (batch: Batch): Promise<void> => {
    const writeOnce = async (tx: Transaction): Promise<Progress> => {
      const { refused, ...counts } = await importLines(tx, digest, batch, currency, { actor: 'operator' });
      const next = {
        line: batch.at(-1)?.line ?? progress.line,
        created: progress.created + counts.created,
        changed: progress.changed + counts.changed,
        unchanged: progress.unchanged + counts.unchanged,
        refused: progress.refused + refused.length,
      };
      await sql(tx, saveProgress, [digest, ...Object.values(next)]);
      // The report is written before the COMMIT. When the process dies here, the next import reads these lines and
      // writes their entries again.
      await report.write(refused);
      return next;
    };
    progress = await retryTakenKey(() => database.transaction(writeOnce));
    report.keep();
    onProgress?.(file.bytesRead(), total);
  };

  // The next batch is read while one is written.
  let writing: Promise<void> = Promise.resolve();
  try {
    for await (const batch of batchesOf(file, resumedAfterLine, createLineCheck(currency), replace)) {
      await writing;
      writing = write(batch);
      writing.catch(() => {}); // the error is thrown where `writing` is awaited
    }
    await writing;
  } catch (error) {
    await writing.catch(() => {});
    throw error;
  } finally {
    await report.close();
  }
  await database.transaction(async (tx) => {
    await sql(tx, 'DELETE FROM product_imports WHERE digest = $1', [digest]);
    await forgetKeys(tx, digest);
  });
  const { line: _line, ...counts } = progress;
  return { resumedAfterLine, ...counts };
}

type Batch = readonly (ImportedProduct | RefusedLine)[];

/** Yields the checked lines after line `after`. */
async function* batchesOf(
  file: ProductFile,
  after: number,
  check: CheckLine,
  replace: boolean,
): AsyncGenerator<Batch, void> {
  let batch: (ImportedProduct | RefusedLine)[] = [];
  for await (const line of file.lines) {
    if (line.line <= after) continue;
    batch.push(check(replace ? { ...line, lacking: [] } : line));
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** @param mode is a part of the digest, so that an import in another mode does not continue an interrupted one */
async function digestOf(path: string, mode: string): Promise<string> {
  const hash = createHash('sha256').update(mode);
  await pipeline(createReadStream(path), hash).catch((error: NodeJS.ErrnoException) => {
    throw new StartError(`cannot read ${path} (${error.code})`);
  });
  return hash.digest('hex');
}

async function isSameFile(path: string, other: string): Promise<boolean> {
  const [one, two] = [await stat(path), await stat(other).catch(() => undefined)];
  return one.dev === two?.dev && one.ino === two.ino;
}

/**
 * Runs `work` with a lock, because concurrent imports would race for the same keys. The server releases the lock with
 * the connection when the process exits.
 */
async function onlyOne<T>(database: Database, work: () => Promise<T>): Promise<T> {
  const client = await database.pool.connect();
  try {
    for (const end = Date.now() + lockWithin; ; await sleep(100)) {
      const { rows } = await client.query<{ locked: boolean }>(`SELECT pg_try_advisory_lock(${importLock}) AS locked`);
      if (rows[0]?.locked === true) return await work();
      if (Date.now() > end) throw new StartError('another import is running: try again when it has ended');
    }
  } finally {
    client.release(true);
  }
}
