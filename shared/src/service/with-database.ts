// The database of a service, for the duration of an operator's function.
import { connectDatabase, type Database, type DatabaseOptions, errorCode } from '../database/index.ts';
import { createLog } from '../runtime/index.ts';

/**
 * Runs `use` with a database as soon as the database responds, and closes it afterwards.
 * @throws the driver's error when the database does not respond or rejects the connection, and any error of `use`
 */
export async function withDatabase<T>(
  options: Pick<DatabaseOptions, 'url' | 'name' | 'statementTimeout'>,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  const database = connectDatabase({ ...options, log: createLog(options.name, 'silent'), poolSize: 2 });
  try {
    await untilConnected(database);
    return await use(database);
  } finally {
    await database.close();
  }
}

/** Repeats attempts that time out. The time limit suits requests, and connecting can take longer on a busy machine. */
async function untilConnected(database: Database, attempts = 5): Promise<void> {
  try {
    await database.ping();
  } catch (error) {
    if (attempts === 1 || errorCode(error) !== undefined) throw error; // a timeout has no code
    await untilConnected(database, attempts - 1);
  }
}
