// Imports lines of one file in one transaction, for imports by operators and over HTTP.
import { sql, type Transaction, violatedConstraint } from '@shop/shared/database';
import type { ImportedProduct, RefusedLine } from './imported-product.ts';
import { type ImportCause, type Upserted, upsertProducts } from './upsert-products.ts';

/** The key of the lock that serializes imports across all processes. */
export const importLock = "hashtextextended('import ' || current_schema(), 0)";

const claimKeys = `
  INSERT INTO import_keys (import, external_key, line)
  SELECT $1, * FROM unnest($2::text[], $3::bigint[]) ON CONFLICT DO NOTHING RETURNING line`;

const findLines = 'SELECT external_key AS key, line FROM import_keys WHERE import = $1 AND external_key = ANY ($2)';

/**
 * @param file identifies the file; a line is rejected when an earlier line of the file has the same key
 * @param lines in their order
 * @param currency of the shop, ISO 4217
 * @returns the rejected lines in their order, including those in `lines`
 */
export async function importLines(
  tx: Transaction,
  file: string,
  lines: readonly (ImportedProduct | RefusedLine)[],
  currency: string,
  cause: ImportCause,
): Promise<Upserted> {
  const products = lines.filter((line) => 'row' in line);
  const faulty = lines.filter((line) => 'reasons' in line);
  const { fresh, repeated } = await claim(tx, file, products);
  const { refused, ...counts } = await upsertProducts(tx, fresh, currency, cause);
  return { ...counts, refused: [...faulty, ...repeated, ...refused].sort((a, b) => a.line - b.line) };
}

/** Claims the keys of the lines. When several lines have the same key, only the first one is imported. */
async function claim(
  tx: Transaction,
  file: string,
  products: readonly ImportedProduct[],
): Promise<{ fresh: readonly ImportedProduct[]; repeated: readonly RefusedLine[] }> {
  if (products.length === 0) return { fresh: products, repeated: [] };
  const keys = products.map(({ externalKey }) => externalKey);
  const claimed = await sql<{ line: number }>(tx, claimKeys, [file, keys, products.map(({ line }) => line)]);
  if (claimed.length === products.length) return { fresh: products, repeated: [] };
  const own = new Set(claimed.map(({ line }) => line));
  const others = products.filter(({ line }) => !own.has(line));
  const known = await sql<{ key: string; line: number }>(tx, findLines, [
    file,
    others.map(({ externalKey }) => externalKey),
  ]);
  const lineOf = new Map(known.map(({ key, line }) => [key, line]));
  const repeated = others.map(({ line, externalKey }): RefusedLine => {
    const reason = `externalKey is also in line ${lineOf.get(externalKey)}: a file has each key once`;
    return { line, externalKey, code: 'invalid-request', reasons: [reason] };
  });
  return { fresh: products.filter(({ line }) => own.has(line)), repeated };
}

/** Deletes the keys of a file after its import has finished. */
export async function forgetKeys(tx: Transaction, file: string): Promise<void> {
  await sql(tx, 'DELETE FROM import_keys WHERE import = $1', [file]);
}

/**
 * Runs `work` again when a request created a product with a key of the lines after `work` had looked for known
 * products. The second time, this product is known.
 */
export async function retryTakenKey<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (violatedConstraint(error) !== 'products_external_key') throw error;
    return work();
  }
}
