// Computes the mailbox keys of the accounts that processes of the previous release have written.
import { type Database, sql, type Transaction } from '@shop/shared/database';
import { type Log, startRepeating } from '@shop/shared/runtime';
import { emailKey } from '@shop/shared/shop';
import { announce } from '../operator/announce-accounts.ts';

const batchSize = 500;
const lookEvery = 60_000;
const lowestId = '00000000-0000-0000-0000-000000000000';

const next = `
  SELECT id, email FROM accounts WHERE mailbox_key IS NULL AND id > $1 ORDER BY id LIMIT ${batchSize} FOR UPDATE`;

// When an older account has the mailbox, the key of the account also contains its own id.
const fill = `
  UPDATE accounts SET mailbox_key = CASE
    WHEN position > 1 OR EXISTS (SELECT FROM accounts AS other WHERE other.mailbox_key = key) THEN key || ' ' || given.id
    ELSE key END
  FROM (
    SELECT id, key, row_number() OVER (PARTITION BY key ORDER BY id) AS position
    FROM unnest($1::uuid[], $2::text[]) AS given (id, key)
  ) AS given
  WHERE accounts.id = given.id
  RETURNING accounts.id, key, mailbox_key <> key AS "isShared"`;

/**
 * Starts the job, which works in batches. Any number of replicas may run it. Processes of the previous release may add
 * further rows.
 */
export function startFillingMailboxKeys(database: Database, log: Log): () => Promise<void> {
  return startRepeating(
    lookEvery,
    async (signal) => {
      for (let last: string | undefined = lowestId; last !== undefined && !signal.aborted; ) {
        const after: string = last;
        last = await database.transaction((tx) => fillAfter(tx, after, log));
      }
    },
    (error) => log.warn({ err: error }, 'the mailbox keys of accounts are filled later'),
  );
}

/** Returns the last id of the batch; undefined when no row followed. */
async function fillAfter(tx: Transaction, after: string, log: Log): Promise<string | undefined> {
  const rows = await sql<{ id: string; email: string }>(tx, next, [after]);
  if (rows.length === 0) return undefined;
  const keys = [rows.map(({ id }) => id), rows.map(({ email }) => emailKey(email))];
  const filled = await sql<{ id: string; key: string; isShared: boolean }>(tx, fill, keys, {
    planEachTime: true,
  });
  for (const { id, isShared } of filled) {
    if (isShared) log.warn({ account: id }, 'an account shares its mailbox with another one; "shop doctor" lists both');
  }
  // Notifications stores the ASCII address for mail servers since the same release.
  const international = rows.filter(({ email }) => /\P{ASCII}/u.test(email)).map(({ id }) => id);
  if (international.length > 0) await announce(tx, international);
  return rows.at(-1)?.id;
}
