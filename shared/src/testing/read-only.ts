// Makes the connections of services read-only, like those to a previous primary after a failover.
import { withClient } from '../database/index.ts';
import type { ServiceName } from '../shop/index.ts';

/**
 * Makes every new connection of these services read-only, or writable again, and closes the present ones.
 * @param adminUrl the superuser's connection string for the database of the services
 */
export async function setReadOnly(
  adminUrl: string,
  services: readonly ServiceName[],
  readOnly: boolean,
): Promise<void> {
  const setting = readOnly ? 'SET default_transaction_read_only = on' : 'RESET default_transaction_read_only';
  await withClient({ url: adminUrl }, async (client) => {
    const { rows } = await client.query<{ name: string }>('SELECT current_database() AS name');
    for (const role of services) await client.query(`ALTER ROLE ${role} IN DATABASE ${rows[0]?.name} ${setting}`);
    await client.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ANY ($1) AND datname = current_database()',
      [services],
    );
  });
}
