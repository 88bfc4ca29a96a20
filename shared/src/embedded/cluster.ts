// The files of a cluster: the folder, the superuser's password, and the data, which are created once.

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { writeWhole } from '../runtime/index.ts';
import { bareContext, canReach, placeOutside, type RunAs } from './run-as.ts';

/**
 * Creates the folder when it does not exist, and checks that it can be written.
 * @throws Error with one line when it cannot be written
 */
export async function makeDataFolder(dataDir: string): Promise<void> {
  try {
    const created = await makeFolder(dataDir);
    // The server's user must be able to traverse the folder. Its files are protected one by one.
    const fresh = created || (await readdir(dataDir)).length === 0;
    if (fresh && process.getuid?.() === 0) await chmod(dataDir, 0o711);
    const probe = join(dataDir, `.probe.${process.pid}`);
    await writeFile(probe, '');
    await rm(probe);
  } catch (error) {
    throw new Error(`cannot write to the data folder ${dataDir} (${(error as NodeJS.ErrnoException).code})`);
  }
}

/**
 * Creates missing folders. Unlike a recursive mkdir, it also returns on file systems that fail with ENOENT, such as
 * /proc.
 */
async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return false;
    if (code !== 'ENOENT' || !(await makeFolder(dirname(path)))) throw error;
    return makeFolder(path);
  }
}

/** Returns the superuser's password, stored beside the data and created before the data. */
export async function keptPassword(dataDir: string, initialised: boolean): Promise<string> {
  const path = join(dataDir, 'password');
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ENOENT' || initialised) throw new Error(`cannot read the database's password in ${path} (${code})`);
  }
  const password = randomBytes(24).toString('base64url');
  await writeWhole(path, password, 0o600);
  return password;
}

/**
 * Permits the superuser to connect to every database, and other roles only to the databases that were created for them.
 */
const admission = `
host  all                 postgres  127.0.0.1/32  scram-sha-256
host  postgres,template1  all       127.0.0.1/32  reject
host  all                 all       127.0.0.1/32  scram-sha-256
`;

export interface Initialisation {
  dataDir: string;
  link: string;
  programs: string;
  user: RunAs;
  password: string;
}

/**
 * Creates the cluster in a temporary folder and renames it when it is complete. So an incomplete cluster is never used,
 * and processes of a killed attempt do not interfere.
 * @throws Error with one line when the cluster cannot be created
 */
export async function initialise({ dataDir, link, programs, user, password }: Initialisation): Promise<string> {
  const reachable = await canReach(user, dataDir);
  const cluster = reachable ? link : await placeOutside(`data-${randomBytes(6).toString('hex')}`);
  await rm(link, { force: true });
  const attempt = await mkdtemp(`${cluster}.partial-`);
  const data = join(attempt, 'data');
  const passwordFile = join(attempt, 'password');
  try {
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (user.uid !== undefined && user.gid !== undefined) {
      await chown(attempt, user.uid, user.gid);
      await chown(passwordFile, user.uid, user.gid);
    }
    const settings = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--encoding=UTF8'];
    const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions'];
    await promisify(execFile)(join(programs, 'initdb'), ['-D', data, ...settings, ...locale], bareContext(user));
    await writeFile(join(data, 'pg_hba.conf'), admission);
    await rename(data, cluster);
  } catch (error) {
    throw new Error(`cannot initialise the database in ${cluster}: ${reasonOf(error)}`);
  } finally {
    await removeAttempts(cluster);
  }
  if (!reachable) await symlink(cluster, link);
  return realpath(cluster);
}

/** Returns the line of initdb's output that states the cause of its failure. */
function reasonOf(error: unknown): string {
  const { stderr, message } = error as Error & { stderr?: string };
  const lines = (stderr || message).split('\n');
  const reason =
    lines.find((line) => line.includes('FATAL:')) ?? lines.find((line) => line.includes('error')) ?? lines[0];
  return (reason ?? '').replace(/^.*?FATAL:\s+/, '').trim();
}

/**
 * Deletes the folders of this attempt and of earlier ones. A process that still writes into one of them fails and
 * exits.
 */
async function removeAttempts(cluster: string): Promise<void> {
  const folder = dirname(cluster);
  const partial = `${basename(cluster)}.partial`;
  for (const name of (await readdir(folder)).filter((each) => each.startsWith(partial))) {
    await rm(join(folder, name), { recursive: true, force: true, maxRetries: 10 });
  }
}
