// Publishes the state of every account again, for services that store a copy of account data.
import { sql, type Transaction } from '@shop/shared/database';
import type { Environment } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { detailColumns } from '../account/account.ts';
import { appendAccountUpdates, type ChangedAccount } from '../account/account-events.ts';
import { readDatabaseConfig } from '../config.ts';

const batchSize = 500;
const lowestId = '00000000-0000-0000-0000-000000000000';

const findNext = `SELECT ${detailColumns}, version FROM accounts WHERE id > $1 ORDER BY id LIMIT ${batchSize}`;
const findThese = `SELECT ${detailColumns}, version FROM accounts WHERE id = ANY ($1::uuid[])`;

/**
 * Appends an `account.updated.v1` for each account, with its present version. A consumer with this version or a later
 * one changes nothing, and no e-mail is sent.
 * @param environment the variables of accounts, of which DATABASE_URL is read
 * @returns the number of accounts
 */
export function announceAccounts(environment: Environment): Promise<number> {
  return withDatabase(
    { url: readDatabaseConfig(environment).databaseUrl, name: 'accounts announce' },
    async (database) => {
      let announced = 0;
      for (let last = lowestId; ; ) {
        const rows = await database.transaction((tx) => announceAfter(tx, last));
        announced += rows.length;
        last = rows.at(-1)?.id ?? last;
        if (rows.length < batchSize) return announced;
      }
    },
  );
}

async function announceAfter(tx: Transaction, last: string): Promise<ChangedAccount[]> {
  const rows = await sql<ChangedAccount>(tx, findNext, [last]);
  await appendAccountUpdates(tx, rows);
  return rows;
}

/** Appends the events of these accounts, in the transaction of the caller. */
export async function announce(tx: Transaction, ids: readonly string[]): Promise<void> {
  await appendAccountUpdates(tx, await sql<ChangedAccount>(tx, findThese, [ids]));
}
