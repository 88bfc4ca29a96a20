// What the operator's commands of the services have in common: results in JSON, plain lines when they fail.
import { connectDatabase, type Database, type DatabaseOptions, errorCode } from '../database/index.ts';
import { createLog } from '../runtime/index.ts';

/** Writes a value as a line of JSON on standard output. */
export type Say = (value: unknown) => void;

/**
 * Runs an operator's command as a process. When `work` fails, each line of the error's message goes to standard error behind the
 * name, which is how the command line knows it.
 * @param name the script's, without `.ts`
 * @param failed the exit code when `work` fails
 */
export async function runCommand(name: string, work: (say: Say) => Promise<void>, failed = 1): Promise<void> {
  try {
    await work((value) => process.stdout.write(`${JSON.stringify(value)}\n`));
  } catch (error) {
    for (const line of messageOf(error).split('\n')) process.stderr.write(`${name}: ${line}\n`);
    process.exitCode = failed;
  }
}

/**
 * Lends a command the database, once it answers, and closes it.
 * @throws the driver's error when the database does not answer or refuses, and whatever `use` throws
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

/** On a busy machine a connection may take longer than a request would wait for one; an operator rather waits. */
async function untilConnected(database: Database, attempts = 5): Promise<void> {
  try {
    await database.ping();
  } catch (error) {
    if (attempts === 1 || errorCode(error) !== undefined) throw error; // a time-out has no code
    await untilConnected(database, attempts - 1);
  }
}

/** A host that has several addresses and answers at none makes an error without a message. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || `the database does not answer (${errorCode(error) ?? error.name})`;
}
