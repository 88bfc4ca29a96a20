// A lock that prevents two processes from using one folder. The lock of a dead process is taken over.

import { execFile } from 'node:child_process';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface FolderLock {
  /** The identity of the dead process that held the lock before; undefined when the folder was not locked. */
  readonly previousOwner: string | undefined;
  release(): Promise<void>;
}

/**
 * Locks a folder for this process.
 * @throws Error when another living process holds the lock; the message names the folder and the process
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const path = join(folder, 'lock');
  const mine = `${path}.${process.pid}`;
  const identity = await processIdentity(process.pid);
  if (identity === undefined) throw new Error(`cannot lock ${folder}: the process table is not readable`);
  await writeFile(mine, identity, { mode: 0o600 });
  let previousOwner: string | undefined;
  try {
    for (;;) {
      try {
        // link(2) fails when the name exists, so only one of two processes succeeds, and the file is complete.
        await link(mine, path);
        return { previousOwner, release: () => rm(path, { force: true }) };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const owner = await readFile(path, 'utf8').catch(() => '');
      const pid = Number.parseInt(owner, 10);
      if (pid > 0 && (await processIdentity(pid)) === owner) throw new Error(`${folder} is in use by process ${pid}`);
      await removeStale(path, owner);
      previousOwner = owner;
    }
  } finally {
    await rm(mine, { force: true });
  }
}

/** Renames the lock of a dead process, and renames it back when another process has replaced it since it was read. */
async function removeStale(path: string, owner: string): Promise<void> {
  const stale = `${path}.stale.${process.pid}`;
  try {
    await rename(path, stale);
    if ((await readFile(stale, 'utf8')) !== owner) await link(stale, path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ENOENT' && code !== 'EEXIST') throw error;
  } finally {
    await rm(stale, { force: true });
  }
}

/**
 * Returns the id of a process and its start time, because ids are reused, especially in containers.
 * @returns undefined when the process does not exist
 */
export async function processIdentity(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    // The second field is the command in brackets, which may contain spaces. The start time is field 22.
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields === undefined || fields[0] === 'Z') return undefined;
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
    return `${pid} ${fields[19]} ${boot.trim()}`;
  }
  const started = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => undefined);
  return started === undefined ? undefined : `${pid} ${started.stdout.trim()}`;
}
