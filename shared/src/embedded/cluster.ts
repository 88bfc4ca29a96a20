// One cluster's files: the folder, the superuser's password, and the data, made once.

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
import { bareContext, canReach, placeOutside, type RunAs } from './run-as.ts';

/**
 * Makes the folder when it is missing, and makes sure that it can be written.
 * @throws Error with one line when it cannot
 */
export async function makeDataFolder(dataDir: string): Promise<void> {
  try {
    const created = await makeFolder(dataDir);
    // The server's user must be able to pass through; what lies inside is protected file by file.
    const fresh = created || (await readdir(dataDir)).length === 0;
    if (fresh && process.getuid?.() === 0) await chmod(dataDir, 0o711);
    const probe = join(dataDir, `.probe.${process.pid}`);
    await writeFile(probe, '');
    await rm(probe);
  } catch (error) {
    throw new Error(`cannot write to the data folder ${dataDir} (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Like a recursive mkdir, which never returns on file systems that refuse with ENOENT, such as /proc. */
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

/** The superuser's password, kept beside the data; made before the data is. */
export async function keptPassword(dataDir: string, initialised: boolean): Promise<string> {
  const path = join(dataDir, 'password');
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ENOENT' || initialised) throw new Error(`cannot read the database's password in ${path} (${code})`);
  }
  const password = randomBytes(24).toString('base64url');
  await writeFile(path, password, { mode: 0o600 });
  return password;
}

/** Who may connect: the superuser everywhere, other roles only to databases that were made for them. */
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
 * Makes the cluster in a folder of this attempt and renames it when complete, so that half of one is never taken for whole, and what
 * an attempt started that was killed never gets in the way.
 * @throws Error with one line when it cannot
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

/** Of all that initdb and the server in it write, the line that says why. */
function reasonOf(error: unknown): string {
  const { stderr, message } = error as Error & { stderr?: string };
  const lines = (stderr || message).split('\n');
  const reason =
    lines.find((line) => line.includes('FATAL:')) ?? lines.find((line) => line.includes('error')) ?? lines[0];
  return (reason ?? '').replace(/^.*?FATAL:\s+/, '').trim();
}

/** This one, and earlier ones. What still writes into one of those ends over it, or has written its last soon. */
async function removeAttempts(cluster: string): Promise<void> {
  const folder = dirname(cluster);
  const partial = `${basename(cluster)}.partial`;
  for (const name of (await readdir(folder)).filter((each) => each.startsWith(partial))) {
    await rm(join(folder, name), { recursive: true, force: true, maxRetries: 10 });
  }
}
