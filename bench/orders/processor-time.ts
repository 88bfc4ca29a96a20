// The processor time of a process and its children, from /proc. It does not depend on other load of the machine.
import { readdirSync, readFileSync } from 'node:fs';

const millisecondsPerTick = 10;

/** Processor time that was used so far, in milliseconds, without that of children of `ancestor` that have ended. */
export function processorTime(ancestor: number): number {
  const children = new Map<number, { pid: number; ticks: number }[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const fields = statOf(name);
    const parent = Number(fields[1]);
    // Its own time, and that of its children that have ended, such as the processes of closed database connections.
    const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index] ?? 0), 0);
    children.set(parent, [...(children.get(parent) ?? []), { pid: Number(name), ticks }]);
  }
  const below = (pid: number): number =>
    (children.get(pid) ?? []).reduce((sum, child) => sum + child.ticks + below(child.pid), 0);
  return below(ancestor) * millisecondsPerTick;
}

/** The fields after the name of the program; empty for a process that has just ended. */
function statOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  } catch {
    return [];
  }
}
