// Checks that a database is empty, because a restore must not overwrite data.
import { errorCode, withClient } from '@shop/shared/database';
import { StartError } from '@shop/shared/runtime';
import { type ServiceName, serviceNames } from '@shop/shared/shop';
import pg from 'pg';
import { namedDatabase } from './database.ts';
import { findTables } from './tables.ts';

/**
 * Checks that the database of an external server is empty or does not exist. Reads it as its administrator and changes
 * nothing.
 * @param url DATABASE_URL
 * @throws StartError when a table of the shop has rows
 */
export async function requireEmptyDatabase(url: string): Promise<void> {
  const look = async (client: pg.Client): Promise<void> => {
    for (const name of serviceNames) {
      await client.query('BEGIN');
      const { rows } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [name]);
      // An administrator without superuser rights can read a role's tables only as its member. The transaction is
      // rolled back.
      if (rows.length > 0) await client.query(`GRANT ${name} TO CURRENT_USER`);
      await client.query(`SET LOCAL search_path = ${name}`);
      await requireEmpty(client, name);
      await client.query('ROLLBACK');
    }
  };
  await withClient({ url: namedDatabase(url), connectWithin: 10_000 }, look).catch((error: unknown) => {
    if (errorCode(error) !== '3D000') throw error;
  });
}

/** @throws StartError when a table of the client's schema has rows */
export async function requireEmpty(client: pg.Client, schema: ServiceName): Promise<void> {
  for (const { name } of await findTables(client)) {
    const { rows } = await client.query(`SELECT FROM ${pg.escapeIdentifier(name)} LIMIT 1`);
    if (rows.length > 0) {
      throw new StartError(
        `the shop is not empty: there are rows in ${schema}.${name}. ` +
          'Restore into a new one: another SHOP_DATA_DIR or server.',
      );
    }
  }
}
