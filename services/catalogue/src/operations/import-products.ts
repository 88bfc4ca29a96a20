// POST /v1/products/imports: stores a file of products for a later import.
import { sql, type Transaction } from '@shop/shared/database';
import { idempotent, requireCaller } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { newId } from '@shop/shared/runtime';
import type { Operation } from '../context.ts';
import { divideFile } from '../imports/file-parts.ts';
import { type ImportRow, importColumns, toProductImport } from '../imports/product-import.ts';

/** The maximum number of imports that wait or run. Concurrent requests can exceed it by their number. */
const mostWaiting = 20;

/** 202 with the import and its address, after the file was stored; 503 while many imports wait. */
export const importProducts: Operation<'importProducts'> = (request, context) =>
  idempotent(request, context, async (tx) => {
    const id = newId();
    const { lines, parts } = divideFile(request.body);
    await refuseSurplus(tx);
    const [stored] = await sql<ImportRow>(
      tx,
      `INSERT INTO import_jobs (id, lines, account_id, request_id, traceparent) VALUES ($1, $2, $3, $4, $5)
       RETURNING ${importColumns}`,
      [id, lines, requireCaller(request).accountId, request.id, request.traceparent],
    );
    for (const { firstLine, bytes } of parts) {
      await sql(tx, 'INSERT INTO import_parts (import_id, first_line, bytes) VALUES ($1, $2, $3)', [
        id,
        firstLine,
        bytes,
      ]);
    }
    if (stored === undefined) throw new Error('the import was not stored');
    return { status: 202, headers: { Location: `/v1/products-imports/${id}` }, body: toProductImport(stored) };
  });

async function refuseSurplus(tx: Transaction): Promise<void> {
  const [waiting] = await sql<{ total: number }>(
    tx,
    'SELECT count(*)::int AS total FROM import_jobs WHERE ended_at IS NULL',
    [],
  );
  if ((waiting?.total ?? 0) < mostWaiting) return;
  const detail = `${mostWaiting} imports are waiting. Try again when some of them have ended.`;
  throw new Problem('service-unavailable', detail, { headers: { 'Retry-After': '60' } });
}
