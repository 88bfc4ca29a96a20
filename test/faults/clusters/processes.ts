// The processes of a node, to which a signal is sent as one.
import { readdir, readFile } from 'node:fs/promises';

/** Returns these processes and all that descend from them, parents first. */
export async function withDescendants(roots: readonly number[]): Promise<number[]> {
  const children = new Map<number, number[]>();
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    // The name of the program is in parentheses, and may itself contain some.
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => undefined);
    const [state, parent] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
    if (state === undefined || state === 'Z') continue;
    children.set(Number(parent), [...(children.get(Number(parent)) ?? []), Number(entry)]);
  }
  const found = [...roots];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

/** Sends a signal to a process, unless the process has ended. */
export function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
