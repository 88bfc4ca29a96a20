// Runs an operator's command: a connection, one JSON value on standard output, one line when it fails.
import { connectDatabase, type Database } from '@shop/shared/database';
import { ConfigError, createLog, StartError } from '@shop/shared/runtime';

/** Exit code 0 with the result of `work` as JSON, or 1 with a line on standard error. */
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
    console.log(JSON.stringify(await work(database)));
  } catch (error) {
    const known = error instanceof ConfigError || error instanceof StartError;
    console.error(
      `${name}: ${known || !(error instanceof Error) ? String(error).replace(/^\w*Error: /, '') : error.message}`,
    );
    process.exitCode = 1;
  } finally {
    await database?.close();
  }
}
