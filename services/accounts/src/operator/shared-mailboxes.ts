// Lists the accounts that have the same mailbox. Earlier releases treated different spellings of a domain as different
// addresses.
import type { Environment } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { readDatabaseConfig } from '../config.ts';

export interface SharedMailbox {
  readonly mailbox: string;
  /** The oldest first. */
  readonly accounts: readonly { readonly accountId: string; readonly email: string }[];
}

/** Lists the accounts. Of `environment` only DATABASE_URL is read. */
export function sharedMailboxes(environment: Environment): Promise<SharedMailbox[]> {
  return withDatabase({ url: readDatabaseConfig(environment).databaseUrl, name: 'doctor' }, async ({ pool }) => {
    const { rows } = await pool.query<SharedMailbox>(
      `SELECT split_part(mailbox_key, ' ', 1) AS mailbox,
         json_agg(json_build_object('accountId', id, 'email', email) ORDER BY id) AS accounts
       FROM accounts
       WHERE mailbox_key IN (SELECT split_part(mailbox_key, ' ', 1) FROM accounts WHERE mailbox_key LIKE '% %')
         OR mailbox_key LIKE '% %'
       GROUP BY 1 HAVING count(*) > 1 ORDER BY 1`,
    );
    return rows;
  });
}
