// Runs an operator's command: a connection, one JSON value on standard output, plain lines when it fails.
import { connectDatabase, type Database, errorCode } from '@shop/shared/database';
import { createLog } from '@shop/shared/runtime';

/** Exit code 0 with the result of `work` as JSON, or 1 with a line for each mistake on standard error. */
export async function runCommand(
  name: string,
  connect: () => string,
  work: (database: Database) => Promise<unknown>,
): Promise<void> {
  let database: Database | undefined;
  try {
    database = connectDatabase({
      url: connect(),
      name: `accounts ${name}`,
      log: createLog(name, 'silent'),
      poolSize: 2,
    });
    await connected(database);
    console.log(JSON.stringify(await work(database)));
  } catch (error) {
    for (const line of messageOf(error).split('\n')) console.error(`${name}: ${line}`);
    process.exitCode = 1;
  } finally {
    await database?.close();
  }
}

/** On a busy machine a connection may take longer than a request would wait for one; an operator rather waits. */
async function connected(database: Database, attempts = 5): Promise<void> {
  try {
    await database.sequelize.authenticate();
  } catch (error) {
    if (attempts === 1 || errorCode(error) !== undefined) throw error; // a time-out has no code
    await connected(database, attempts - 1);
  }
}

/** A host that has several addresses and answers at none makes an error without a message. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message !== '' || !('code' in error) ? error.message : String(error.code);
}
