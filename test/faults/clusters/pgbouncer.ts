// PgBouncer in session mode in front of HAProxy. docs/growing/connections.md has the same settings.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from '@shop/shared/embedded';
import { chooseUser } from '../../../shared/src/embedded/run-as.ts';
import { findProgram } from './programs.ts';

export interface PgBouncer {
  /** Its host and port. */
  readonly host: string;
  stop(): Promise<void>;
}

/**
 * @param folder a folder that PgBouncer's user can reach
 * @param server the host and port to which it connects
 * @param passwords the password of each role
 */
export async function startPgBouncer(
  folder: string,
  server: string,
  passwords: Readonly<Record<string, string>>,
): Promise<PgBouncer> {
  const program = await findProgram('pgbouncer');
  const [port = 0] = await freePorts(1);
  const [host = '', serverPort = ''] = server.split(':');
  const [configuration, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'users.txt')];
  await writeFile(
    users,
    Object.entries(passwords)
      .map(([role, password]) => `"${role}" "${password}"\n`)
      .join(''),
  );
  await writeFile(
    configuration,
    `
[databases]
shop = host=${host} port=${serverPort}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = session
default_pool_size = 120
max_client_conn = 500
server_login_retry = 1
query_wait_timeout = 5
query_timeout = 10
idle_transaction_timeout = 15
ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout
`,
  );
  const user = await chooseUser(undefined);
  if (user.uid !== undefined && user.gid !== undefined) {
    for (const file of [configuration, users]) await chown(file, user.uid, user.gid);
  }
  const pgbouncer = spawn(program, [configuration], { ...user, stdio: 'ignore' });
  return { host: `127.0.0.1:${port}`, stop: () => ended(pgbouncer) };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const end = once(child, 'exit');
  child.kill('SIGKILL');
  await end;
}
