// Archives finished orders and restores archived ones on request, for operators.
import type { Database } from '@shop/shared/database';
import { type Environment, readConfig, StartError } from '@shop/shared/runtime';
import { serviceVariables, withDatabase } from '@shop/shared/service';
import { archiveOrders, countOld, findStart } from '../archive-orders.ts';
import { countArchived, restoreAllOrders } from '../restore-orders.ts';

export interface ArchiveRequest {
  /** Only orders without a change for this number of days are archived. */
  readonly days: number;
  /** Called after each batch. */
  readonly onProgress?: (archived: number, total: number) => void;
}

/** Milliseconds. The statement that counts the orders for the progress may take this long. */
const countWithin = 600_000;

/**
 * Returns how many orders were archived. Of `environment` only DATABASE_URL is read.
 * @throws StartError on the first day after the migration of the archive
 */
export function archiveFinishedOrders(
  environment: Environment,
  { days, onProgress }: ArchiveRequest,
): Promise<{ readonly archived: number }> {
  return withArchive(environment, 'archive orders', async (database) => {
    await requireStart(database);
    const total = onProgress === undefined ? 0 : await countOld(database.pool, days);
    const onBatch = (archived: number): void => onProgress?.(archived, Math.max(archived, total));
    return { archived: await archiveOrders(database, days, { onBatch }) };
  });
}

async function requireStart({ pool }: Database): Promise<void> {
  const start = await findStart(pool);
  if (start?.isReached === true) return;
  const when = start === undefined ? 'a day after the update' : `from ${start.at.toISOString()}`;
  throw new StartError(
    `orders can be archived ${when}: processes of the version before do not find archived orders. ` +
      'Update all processes of orders first.',
  );
}

export interface RestoredOrders {
  readonly restored: number;
  /**
   * The number of orders that are archived afterwards, because other processes have archived them again or were
   * changing them.
   */
  readonly archived: number;
}

/** Restores all archived orders. Of `environment` only DATABASE_URL is read. */
export function restoreArchivedOrders(
  environment: Environment,
  onProgress?: (restored: number, total: number) => void,
): Promise<RestoredOrders> {
  return withArchive(environment, 'restore orders', async (database) => {
    const total = onProgress === undefined ? 0 : await countArchived(database.pool);
    const onBatch = (restored: number): void => onProgress?.(restored, Math.max(restored, total));
    const restored = await restoreAllOrders(database, onBatch);
    return { restored, archived: await countArchived(database.pool) };
  });
}

function withArchive<T>(environment: Environment, name: string, use: (database: Database) => Promise<T>): Promise<T> {
  const { databaseUrl: url } = readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
  return withDatabase({ url, name, statementTimeout: countWithin }, use);
}
