// Writes a batch of imported products: inserts new products, changes known ones as PATCH does, and skips equal ones.
import { sql, type Transaction } from '@shop/shared/database';
import { newId, parseId } from '@shop/shared/runtime';
import { assignments, shownColumns } from '../product/archived-status.ts';
import { enterChanges } from '../product/product-changes.ts';
import { type WrittenRow, writtenColumns, writtenLines } from '../product/product-columns.ts';
import { appendProductEvents, changesProduct, type ProductChange, toProductEvent } from '../product/product-events.ts';
import { columnValues } from '../product/product-input.ts';
import { lockGroups } from '../product/variants.ts';
import { toStockChange, toStockEvents } from '../stock/stock-events.ts';
import { enterReceived, type MovementCause, type Received } from '../stock/stock-ledger.ts';
import type { ImportedProduct, RefusedLine } from './imported-product.ts';
import { usedVariants } from './used-variants.ts';

export interface Upserted {
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly refused: readonly RefusedLine[];
}

/** The actor of an import, and its reason in the stock ledger. */
export interface ImportCause extends MovementCause {
  readonly reason?: string;
}

interface KnownRow extends WrittenRow {
  readonly id: string;
  readonly reserved: number;
  /** Units of orders that have not shipped, whether on hand or not. */
  readonly promised: number;
  readonly isArchived: boolean;
}

const isKnown = 'external_key = ANY ($1::text[]) OR id = ANY ($2::uuid[])';

/** Locks products in the order of their ids, as reservations do, so that two transactions cannot deadlock. */
export const findKnown = `
  SELECT id, ${shownColumns}, reserved, reserved + oversold AS promised,
    archived_status IS NOT NULL AS "isArchived" FROM products
  WHERE ${isKnown}
  ORDER BY id FOR UPDATE`;

const parameters = writtenLines.map(({ type }, index) => `$${index + 2}::${type.sql}[]`);
const given = `unnest($1::uuid[], ${parameters.join(', ')}) AS given(id, ${writtenColumns.join(', ')})`;

const insert = `
  INSERT INTO products (id, ${writtenColumns.join(', ')})
  SELECT id, ${writtenColumns.join(', ')} FROM ${given}`;

// New units go first to orders that were promised beyond the stock, as in PATCH /v1/products/{productId}.
const update = `
  UPDATE products SET ${assignments((column) => `given.${column}`)},
    reserved = least(products.reserved + oversold, given.stock),
    oversold = greatest(products.reserved + oversold - given.stock, 0)
  FROM ${given}
  WHERE products.id = given.id
  RETURNING products.id, version`;

const releaseVariants = 'UPDATE products SET variant_key = NULL WHERE id = ANY ($1::uuid[])';

/**
 * Identifies a product by its external key, or else by its id. When one line has the key of a product and another line
 * has its id, the later line wins.
 * @param batch contains each external key at most once
 * @param currency of the shop, ISO 4217
 */
export async function upsertProducts(
  tx: Transaction,
  batch: readonly ImportedProduct[],
  currency: string,
  cause: ImportCause,
): Promise<Upserted> {
  await lockGroups(tx, await findIds(tx, batch), batch.map(groupOf));
  const byKey = await readKnown(tx, batch);
  const end = endOfDistinct(batch, byKey);
  const upserted = await upsertDistinct(tx, batch.slice(0, end), byKey, currency, cause);
  if (end === batch.length) return upserted;
  const others = await upsertProducts(tx, batch.slice(end), currency, cause);
  return {
    created: upserted.created + others.created,
    changed: upserted.changed + others.changed,
    unchanged: upserted.unchanged + others.unchanged,
    refused: [...upserted.refused, ...others.refused],
  };
}

/** Returns the ids of the known products of a batch. */
async function findIds(tx: Transaction, batch: readonly ImportedProduct[]): Promise<string[]> {
  const found = await sql<{ id: string }>(tx, `SELECT id FROM products WHERE ${isKnown}`, keysOf(batch));
  return found.map(({ id }) => id);
}

function groupOf({ row: { variant } }: ImportedProduct): string | undefined {
  return variant === null ? undefined : JSON.parse(variant).group;
}

/** Returns the parameters of `isKnown`. */
function keysOf(batch: readonly ImportedProduct[]): [string[], string[]] {
  const keys = batch.map(({ externalKey }) => externalKey);
  return [keys, keys.flatMap((key) => parseId(key) ?? [])];
}

/** Locks the products of a batch, and returns them by their external keys and ids. */
async function readKnown(tx: Transaction, batch: readonly ImportedProduct[]): Promise<Map<string, KnownRow>> {
  const known = await sql<KnownRow>(tx, findKnown, keysOf(batch));
  const byKey = new Map(known.map((row) => [row.id, row]));
  // A key may be the external key of one product and the id of another one.
  for (const row of known) if (row.external_key !== null) byKey.set(row.external_key, row);
  return byKey;
}

function findByKey(byKey: ReadonlyMap<string, KnownRow>, key: string): KnownRow | undefined {
  return byKey.get(key) ?? byKey.get(parseId(key) ?? '');
}

/** Returns the index of the first line with a product that an earlier line already identified by another key. */
function endOfDistinct(batch: readonly ImportedProduct[], byKey: ReadonlyMap<string, KnownRow>): number {
  const seen = new Set<string>();
  const end = batch.findIndex(({ externalKey }) => {
    const id = findByKey(byKey, externalKey)?.id;
    if (id === undefined) return false;
    const isRepeated = seen.has(id);
    seen.add(id);
    return isRepeated;
  });
  return end === -1 ? batch.length : end;
}

async function upsertDistinct(
  tx: Transaction,
  batch: readonly ImportedProduct[],
  byKey: ReadonlyMap<string, KnownRow>,
  currency: string,
  cause: ImportCause,
): Promise<Upserted> {
  const { reason } = cause;
  const refused: RefusedLine[] = [];
  const given: GivenProduct[] = [];
  for (const product of batch) {
    const { line, externalKey } = product;
    const present = findByKey(byKey, externalKey);
    if (present === undefined && product.incomplete.length > 0) {
      refused.push({ line, externalKey, code: 'invalid-request', reasons: product.incomplete });
      continue;
    }
    if (present === undefined) {
      given.push({ line, externalKey, id: newId(), row: product.row });
      continue;
    }
    // A product that is identified by its id retains its external key, if it has one.
    const kept = ['external_key', ...product.kept] as const;
    const row = { ...product.row, ...Object.fromEntries(kept.map((column) => [column, present[column]])) };
    if (row.stock < present.reserved) {
      const fault = `stock is less than the ${present.reserved} that are promised to orders that have not shipped`;
      refused.push({ line, externalKey, code: 'insufficient-stock', reasons: [fault] });
    } else if (writtenColumns.some((column) => row[column] !== present[column])) {
      given.push({ line, externalKey, id: present.id, row, present });
    }
  }
  const used = await usedVariants(tx, given);
  for (const { line, externalKey, id } of given) {
    const other = used.get(id);
    if (other === undefined) continue;
    const fault = `variant has the group and the options of the product ${other}`;
    refused.push({ line, externalKey, code: 'invalid-request', reasons: [fault] });
  }
  const written = given.filter(({ id }) => !used.has(id));
  const created = written.filter(({ present }) => present === undefined);
  const changed = written.filter((product): product is ChangedProduct => product.present !== undefined);
  // Another product may get the variant that a known one gives up.
  const leaving = changed.filter(({ row, present }) => present.variant !== null && row.variant !== present.variant);
  if (leaving.length > 0) await sql(tx, releaseVariants, [leaving.map(({ id }) => id)]);
  const versions = changed.length === 0 ? [] : await sql<WrittenVersion>(tx, update, columnsOf(changed));
  if (created.length > 0) await sql(tx, insert, columnsOf(created));
  const received = written.map(({ id, row, present }): Received => {
    return { productId: id, quantity: row.stock - (present?.stock ?? 0), reason };
  });
  await enterReceived(tx, received, cause);
  const entered = [
    ...created.map(({ id, row }) => ({ productId: id, after: { ...row, isArchived: false } })),
    ...changed.map(({ id, row, present }) => {
      return { productId: id, before: present, after: { ...row, isArchived: present.isArchived } };
    }),
  ];
  await enterChanges(tx, entered, currency, cause);
  const versionOf = new Map(versions.map(({ id, version }) => [id, version]));
  const changes = [
    ...created.map(({ id, row }) => {
      const events = [toProductEvent('product.created.v1', id, row, row.stock > 0, currency)];
      return { productId: id, version: 1, events };
    }),
    ...changed.map((product) => toChange(product, versionOf.get(product.id) ?? 0, currency)),
  ];
  await appendProductEvents(tx, changes, cause);
  const unchanged = batch.length - created.length - changed.length - refused.length;
  return { created: created.length, changed: changed.length, unchanged, refused };
}

/** Returns the change of a known product with its events. */
function toChange({ id, row, present }: ChangedProduct, version: number, currency: string): ProductChange {
  const shown = present.isArchived ? { ...row, status: 'pending' as const } : row;
  const events = [
    ...(changesProduct(present, row)
      ? [toProductEvent('product.updated.v1', id, shown, row.stock > present.promised, currency)]
      : []),
    ...toStockEvents(toStockChange(id, version, present, row)),
  ];
  return { productId: id, version, events };
}

/** A product as its line writes it. */
interface GivenProduct {
  readonly line: number;
  readonly externalKey: string;
  readonly id: string;
  readonly row: WrittenRow;
  /** Absent for a new product. */
  readonly present?: KnownRow;
}

interface ChangedProduct extends GivenProduct {
  readonly present: KnownRow;
}

interface WrittenVersion {
  readonly id: string;
  readonly version: number;
}

/** Returns one array for each column, so that a batch of any size is one statement. */
function columnsOf(products: readonly GivenProduct[]): (string | number | boolean | null)[][] {
  const rows = products.map(({ id, row }) => [id, ...columnValues(row)]);
  return Array.from({ length: writtenColumns.length + 1 }, (_, column) => rows.map((row) => row[column] ?? null));
}
