// Processes that the test files of one worker share. Each file gets the database in its state after the migrations,
// without e-mails. A worker has one set of processes, because idle processes also need processor time.
import { rmSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { withClient } from '../database/index.ts';
import { eventually } from './eventually.ts';
import { adminUrlVariable, fileVariable, localeVariable } from './run-state.ts';
import type { TestService, TestServices } from './test-service.ts';

interface Shared {
  /** Equal for calls that can share processes. */
  readonly key: string;
  readonly services: TestServices;
  /** The tables that had no rows when the services were ready. */
  readonly empty: readonly string[];
}

let last: Shared | undefined;
/** The test file that has not stopped them yet. */
let user: string | undefined = 'none';

/**
 * Returns the processes of the last file of this worker that gave the same parameters, or starts new ones instead of
 * them. They end with the worker.
 * @throws Error when this file has not stopped other shared processes
 */
export async function takeSharedServices(
  parameters: object,
  start: () => Promise<TestServices>,
): Promise<TestServices> {
  const { [fileVariable]: file, [adminUrlVariable]: server, [localeVariable]: locale } = process.env;
  if (user === file) throw new Error('this file uses shared processes already: start others with `shared: false`');
  user = file;
  const key = JSON.stringify([server, locale, parameters]);
  if (last?.key !== key) {
    const former = last;
    last = undefined;
    await former?.services.stop();
    last = await begin(key, start);
  }
  const { services, empty } = last;
  await reset(services, empty);
  return {
    ...services,
    service: (name) => viewOf(services.service(name)),
    async stop() {
      user = 'none';
    },
  };
}

async function begin(key: string, start: () => Promise<TestServices>): Promise<Shared> {
  const services = await start();
  process.once('exit', () => rmSync(services.mailFolder, { recursive: true, force: true }));
  const empty = await withClient({ url: services.database.adminUrl }, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT oid::regclass::text AS name FROM pg_class
       WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace::regnamespace::text !~ '^(pg_|information_)'`,
    );
    const found: string[] = [];
    for (const { name } of rows) {
      const { rowCount } = await client.query(`SELECT FROM ${name} LIMIT 1`);
      if (rowCount === 0) found.push(name);
    }
    return found;
  });
  return { key, services, empty };
}

async function reset(services: TestServices, empty: readonly string[]): Promise<void> {
  // Triggers would truncate other tables. In a deadlock with a job of a process, this transaction fails and is repeated.
  const settings = "SET session_replication_role = replica; SET deadlock_timeout = '50ms'";
  await eventually(() =>
    withClient({ url: services.database.adminUrl }, (client) =>
      client.query(`${settings}; TRUNCATE ${empty.join(', ')}`),
    ),
  );
  const mails = await readdir(services.mailFolder);
  await Promise.all(mails.map((name) => rm(join(services.mailFolder, name), { recursive: true, force: true })));
}

/** Returns a process that other files use, with its output since now. */
function viewOf(service: TestService): TestService {
  const before = service.output().length;
  const refuse = (): never => {
    throw new Error('other files use this process: start your own with `shared: false`');
  };
  return { ...service, output: () => service.output().slice(before), kill: refuse, restart: refuse };
}
