// Shows operators the feed as it happens. No service has to run.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { readDatabaseConfig } from '../config.ts';
import { type Change, changeColumns, toView } from '../feed/change.ts';
import type { Kind } from '../feed/changed-resource.ts';

const pollEvery = 300;
const batch = 500;

/**
 * Calls `show` with the changes that follow, in their order, until the signal is aborted.
 * @param environment the variables of changes, of which DATABASE_URL is read
 */
export function tailChanges(
  environment: Environment,
  types: readonly Kind[],
  show: (changes: readonly ReturnType<typeof toView>[]) => void,
  signal: AbortSignal,
): Promise<void> {
  const url = readDatabaseConfig(environment).databaseUrl;
  return withDatabase({ url, name: 'changes tail' }, async ({ pool }) => {
    const { rows } = await pool.query<{ position: number }>('SELECT head AS position FROM feed');
    let position = rows[0]?.position ?? 0;
    while (!signal.aborted) {
      const { rows: changes } = await pool.query<Change>(
        `SELECT ${changeColumns} FROM changes WHERE position > $1 AND kind = ANY ($2) ORDER BY position LIMIT ${batch}`,
        [position, types],
      );
      show(changes.map(toView));
      position = changes.at(-1)?.position ?? position;
      if (changes.length < batch) await sleep(pollEvery, undefined, { signal }).catch(() => {});
    }
  });
}
