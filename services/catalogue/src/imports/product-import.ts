// An import over HTTP: its columns, and its representation for clients.
import type { components } from '../generated.ts';
import type { RefusedLine } from './imported-product.ts';

export type ProductImport = components['schemas']['ProductImport'];

/** The columns that `toProductImport` reads. */
export const importColumns = `
  id, status, lines, lines_read AS "linesRead", created, changed, unchanged, refused, refused_lines AS "refusedLines",
  created_at AS "createdAt", ended_at AS "endedAt"`;

export interface ImportRow extends Omit<ProductImport, 'createdAt' | 'endedAt'> {
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

export function toProductImport({ createdAt, endedAt, ...row }: ImportRow): ProductImport {
  return {
    ...row,
    createdAt: createdAt.toISOString(),
    ...(endedAt !== null && { endedAt: endedAt.toISOString() }),
  };
}

/** The maximum number of rejected lines that are stored for an import. */
export const mostRefusedLines = 100;
const longestReason = 500;

export function toRefusedLine({
  line,
  externalKey,
  code,
  reasons,
}: RefusedLine): ProductImport['refusedLines'][number] {
  // A key that is too long is reported as a fault. It is truncated by characters, so that no lone surrogate remains.
  const shown = externalKey === undefined ? undefined : cut(externalKey, 200);
  return {
    line,
    ...(shown !== undefined && { externalKey: shown }),
    code,
    reason: cut(reasons.join('; '), longestReason),
  };
}

/** Faults name members of the line. JSON in PostgreSQL can contain neither NUL nor lone surrogates. */
function cut(text: string, length: number): string {
  const storable = text.toWellFormed().replaceAll('\0', '\uFFFD');
  return storable.length <= length ? storable : [...storable].slice(0, length).join('');
}
