// Archives finished orders on request, for operators.
import { type Environment, readConfig } from '@shop/shared/runtime';
import { serviceVariables, withDatabase } from '@shop/shared/service';
import { archiveOrders, countOld } from '../archive-orders.ts';

export interface ArchiveRequest {
  /** Only orders that were not changed for so many days. */
  readonly days: number;
  /** Is called after each batch. */
  readonly onProgress?: (archived: number, total: number) => void;
}

/** Milliseconds. All old orders are counted for the progress. */
const countWithin = 600_000;

/** Returns how many orders were archived. Of `environment` only DATABASE_URL is read. */
export function archiveFinishedOrders(
  environment: Environment,
  { days, onProgress }: ArchiveRequest,
): Promise<{ readonly archived: number }> {
  const { databaseUrl: url } = readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
  return withDatabase({ url, name: 'archive orders', statementTimeout: countWithin }, async (database) => {
    const total = onProgress === undefined ? 0 : await countOld(database.pool, days);
    const onBatch = (archived: number): void => onProgress?.(archived, Math.max(archived, total));
    return { archived: await archiveOrders(database, days, { onBatch }) };
  });
}
