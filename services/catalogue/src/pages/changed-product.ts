// A committed change of a product, from the payload of its notification (migrations/0061_variants.sql).
import type { RowChange, RowValues, Value } from '@shop/shared/collection';

/** The fields of a row in a payload, in this order. Pages that depend on any other field are not cached. */
const fields = [
  'name',
  'brand',
  'category',
  'price',
  'rating',
  'status',
  'inStock',
  'createdAt',
  'updatedAt',
  'lead',
] as const;

const watched: ReadonlySet<string> = new Set(['id', ...fields]);

/** Returns whether the values of this field are part of a notification. */
export function isWatched(field: string): boolean {
  return watched.has(field);
}

/** Parses a payload. Returns undefined when it does not describe one product; the cached pages are then unreliable. */
export function readChange(payload: string): RowChange | undefined {
  const [id, old, present] = parse(payload) ?? [];
  if (typeof id !== 'string') return undefined;
  const [before, after] = [readRow(id, old), readRow(id, present)];
  if (before === 'unknown' || after === 'unknown') return undefined;
  return { id, before, after };
}

/** Reads the values of a row; undefined when customers see no such product. */
function readRow(id: string, values: unknown): RowValues | undefined | 'unknown' {
  if (values === null) return undefined;
  if (!Array.isArray(values) || values.length !== fields.length) return 'unknown';
  const row: Record<string, Value | null> = { id };
  for (const [index, field] of fields.entries()) {
    const value: unknown = values[index];
    if (value !== null && typeof value !== 'string' && typeof value !== 'number') return 'unknown';
    row[field] = field.endsWith('At') ? timeOf(String(value)) : value;
  }
  // Only pages for customers are cached, and customers do not see pending products.
  return row.status === 'pending' ? undefined : row;
}

function parse(payload: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(payload);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Converts `2026-11-21T03:00:00.12`, as PostgreSQL writes a time without a zone into JSON, to
 * `2026-11-21T03:00:00.120Z`.
 */
function timeOf(text: string): string {
  const [seconds = '', fraction = ''] = text.split('.');
  return `${seconds}.${fraction.padEnd(3, '0')}Z`;
}
