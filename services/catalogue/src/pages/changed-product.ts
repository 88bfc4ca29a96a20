// A committed change of a product, from the payload of its notification (migrations/0045_product_changes.sql).
import type { RowChange, RowValues, Value } from '@shop/shared/collection';

/** The fields of a payload behind the id, in its order. Pages that depend on another field are not kept. */
const fields = ['name', 'brand', 'category', 'price', 'rating', 'status', 'createdAt', 'updatedAt'] as const;

const watched: ReadonlySet<string> = new Set(['id', ...fields]);

/** Whether a change of this field is part of a notification. */
export function isWatched(field: string): boolean {
  return watched.has(field);
}

/** The change; undefined for a payload that does not describe one product, after which nothing is known. */
export function readChange(payload: string): RowChange | undefined {
  const values = parse(payload);
  const [id, ...rest] = values ?? [];
  if (typeof id !== 'string') return undefined;
  if (rest.length === 0) return { id, row: undefined };
  if (rest.length !== fields.length) return undefined;
  const row: Record<string, Value | null> = { id };
  for (const [index, field] of fields.entries()) {
    const value = rest[index];
    if (value !== null && typeof value !== 'string' && typeof value !== 'number') return undefined;
    row[field] = field.endsWith('At') ? timeOf(String(value)) : value;
  }
  // Customers, for whom the pages are, do not see it.
  if (row.status === 'pending') return { id, row: undefined };
  return { id, row: row satisfies RowValues };
}

function parse(payload: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(payload);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `2026-11-21T03:00:00.12`, as PostgreSQL writes a time without a zone into JSON, → `2026-11-21T03:00:00.120Z`. */
function timeOf(text: string): string {
  const [seconds = '', fraction = ''] = text.split('.');
  return `${seconds}.${fraction.padEnd(3, '0')}Z`;
}
