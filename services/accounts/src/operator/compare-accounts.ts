// Reads and repairs the versions of accounts after a failover that lost changes.
import { sql } from '@shop/shared/database';
import type { Environment } from '@shop/shared/runtime';
import { withDatabase } from '@shop/shared/service';
import { readDatabaseConfig } from '../config.ts';
import { announce } from './announce-accounts.ts';

/** The version of an account; `erased` when its holder has had it erased. */
export type KnownVersion = number | 'erased';

/** Account → its version, without the accounts that do not exist. Of `environment` only DATABASE_URL is read. */
export function readAccountVersions(
  environment: Environment,
  ids: readonly string[],
): Promise<Map<string, KnownVersion>> {
  return withDatabase({ url: readDatabaseConfig(environment).databaseUrl, name: 'doctor' }, async ({ pool }) => {
    const { rows } = await pool.query<{ id: string; version: KnownVersion }>(
      `SELECT id, to_json(version) AS version FROM accounts WHERE id = ANY ($1::uuid[])
       UNION ALL SELECT account_id, to_json('erased'::text) FROM erased_accounts WHERE account_id = ANY ($1::uuid[])`,
      [ids],
    );
    return new Map(rows.map(({ id, version }) => [id, version]));
  });
}

/**
 * Gives an account a version after those that other services know, and publishes its state. They would otherwise ignore
 * its next changes, whose versions they know from changes that are lost. Of `environment` only DATABASE_URL is read.
 * @param known the newest version that another service knows
 */
export function overtakeVersion(environment: Environment, accountId: string, known: number): Promise<void> {
  return withDatabase({ url: readDatabaseConfig(environment).databaseUrl, name: 'doctor' }, (database) =>
    database.transaction(async (tx) => {
      await sql(tx, 'UPDATE accounts SET version = $2 + 1 WHERE id = $1 AND version <= $2', [accountId, known]);
      await announce(tx, [accountId]);
    }),
  );
}
