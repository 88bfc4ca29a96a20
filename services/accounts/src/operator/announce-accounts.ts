// Publishes the state of every account again, for services that store a copy of account data.
import { sql, type Transaction } from '@shop/shared/database';
import { appendEvents } from '@shop/shared/events';
import { type Environment, newId } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { type AccountDetails, detailColumns, toDetails } from '../account/account.ts';
import { readDatabaseConfig } from '../config.ts';

const batchSize = 500;
const lowestId = '00000000-0000-0000-0000-000000000000';

const findNext = `SELECT ${detailColumns}, version FROM accounts WHERE id > $1 ORDER BY id LIMIT ${batchSize}`;
const findThese = `SELECT ${detailColumns}, version FROM accounts WHERE id = ANY ($1::uuid[])`;

type Row = AccountDetails & { readonly version: number };

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

async function announceAfter(tx: Transaction, last: string): Promise<Row[]> {
  const rows = await sql<Row>(tx, findNext, [last]);
  await publish(tx, rows);
  return rows;
}

/** Appends the events of these accounts, in the transaction of the caller. */
export async function announce(tx: Transaction, ids: readonly string[]): Promise<void> {
  await publish(tx, await sql<Row>(tx, findThese, [ids]));
}

async function publish(tx: Transaction, rows: readonly Row[]): Promise<void> {
  await appendEvents(
    tx,
    rows.map((row) => ({
      type: 'account.updated.v1',
      subject: row.id,
      sequence: row.version,
      data: toDetails(row),
      requestId: newId(),
    })),
  );
}
