// Lets a test wait until a transaction waits for a lock of the test.
import type pg from 'pg';

/**
 * Returns the number of connections that wait for a lock, of those to the same database.
 *
 * @param database a pool: a connection in a transaction would not see connections that are opened after its first look
 */
export async function lockWaits(database: pg.Pool): Promise<number> {
  const { rows } = await database.query(
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return rows.length;
}
