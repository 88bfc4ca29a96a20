// POST /v1/products/imports: stores a file of products, whose lines are imported afterwards.
import { sql } from '@shop/shared/database';
import { callerOf, idempotent } from '@shop/shared/http';
import { newId } from '@shop/shared/runtime';
import type { Operation } from './context.ts';
import { divideFile } from './imports/file-parts.ts';
import { type ImportRow, importColumns, toProductImport } from './imports/product-import.ts';

/** 202 with the import and its address, after the file was stored. */
export const importProducts: Operation<'importProducts'> = (request, context) =>
  idempotent(request, context, async (tx) => {
    const id = newId();
    const { lines, parts } = divideFile(request.body);
    const [stored] = await sql<ImportRow>(
      tx,
      `INSERT INTO import_jobs (id, lines, account_id, request_id, traceparent) VALUES ($1, $2, $3, $4, $5)
       RETURNING ${importColumns}`,
      [id, lines, callerOf(request).accountId, request.id, request.traceparent],
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
