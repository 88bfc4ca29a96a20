// Stops a server that outlived the process that started it.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { processIdentity } from './folder-lock.ts';

/**
 * Stops such a server on this cluster. The caller must have locked the folder. `postmaster.pid` is not deleted:
 * PostgreSQL needs it to find processes of a previous server that still use the data.
 * @returns the process id in `postmaster.pid` when another program has it by now. PostgreSQL would not start
 * @throws Error when the server does not stop
 */
export async function stopOrphan(cluster: string): Promise<number | undefined> {
  const path = join(cluster, 'postmaster.pid');
  const pid = Number.parseInt(await readFile(path, 'utf8').catch(() => ''), 10);
  if (!(pid > 0)) return undefined;
  const command = await commandOf(pid);
  if (command === '') return undefined;
  if (!command.includes(cluster)) return pid;
  for (const [signal, seconds] of [['SIGINT', 20] as const, ['SIGQUIT', 5] as const]) {
    process.kill(pid, signal);
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(25)) {
      if ((await processIdentity(pid)) === undefined) return undefined;
    }
  }
  throw new Error(`an earlier PostgreSQL (process ${pid}) on ${cluster} does not end`);
}

async function commandOf(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const listed = await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => undefined);
  return listed?.stdout ?? '';
}
