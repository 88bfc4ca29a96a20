// Removes the buyers from invoices and credit notes that need not be kept with them any longer.
import type { Database } from '@shop/shared/database';
import { type Log, startRepeating } from '@shop/shared/runtime';

export interface RemovalOptions {
  readonly database: Database;
  /** Years after the issue. */
  readonly invoiceYears: number;
  readonly log: Log;
}

const lookEvery = 3_600_000;
const batchSize = 500;

/** Starts the loop; any number of replicas may run it. The returned function stops it. */
export function startRemovingBuyers({ database, invoiceYears, log }: RemovalOptions): () => Promise<void> {
  return startRepeating(
    lookEvery,
    async (signal) => {
      while (!signal.aborted) {
        const { rowCount } = await database.pool.query(
          `UPDATE invoices SET body = (body::jsonb - 'buyer')::json
           WHERE (year, kind, sequence, account_id) IN (
             SELECT year, kind, sequence, account_id FROM invoices
             WHERE issued_at < now() - $1 * interval '1 year' AND body -> 'buyer' IS NOT NULL
             LIMIT ${batchSize} FOR UPDATE SKIP LOCKED)`,
          [invoiceYears],
        );
        if ((rowCount ?? 0) < batchSize) return;
      }
    },
    (error) => log.warn({ err: error }, 'invoices wait for the removal of their buyers'),
  );
}
