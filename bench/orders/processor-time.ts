// The processor time of a process and its children, from /proc. It does not depend on other load of the machine.
import { readdirSync, readFileSync } from 'node:fs';

const millisecondsPerTick = 10;

/** Processor time that was used so far, in milliseconds, without that of children of `ancestor` that have ended. */
export function processorTime(ancestor: number): number {
  return [...processorTimes(ancestor).values()].reduce((sum, time) => sum + time, 0);
}

/** The same by part: the name of a process of the shop, `PostgreSQL`, `RabbitMQ`, or `others`. */
export function processorTimes(ancestor: number): ReadonlyMap<string, number> {
  const children = new Map<number, { pid: number; ticks: number }[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const fields = statOf(name);
    const parent = Number(fields[1]);
    // Its own time, and that of its children that have ended, such as the processes of closed database connections.
    const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index] ?? 0), 0);
    children.set(parent, [...(children.get(parent) ?? []), { pid: Number(name), ticks }]);
  }
  const times = new Map<string, number>();
  const add = (parent: number): void => {
    for (const { pid, ticks } of children.get(parent) ?? []) {
      const part = findPart(pid);
      times.set(part, (times.get(part) ?? 0) + ticks * millisecondsPerTick);
      add(pid);
    }
  };
  add(ancestor);
  return times;
}

function findPart(pid: number): string {
  const command = read(`/proc/${pid}/cmdline`);
  const [, name] = /(?:services\/)?([a-z]+)\/src\/main\.ts/.exec(command) ?? [];
  if (name !== undefined) return name;
  if (/^\S*postgres\b/.test(command)) return 'PostgreSQL';
  return command.includes('beam.smp') ? 'RabbitMQ' : 'others';
}

/** The fields after the name of the program. */
function statOf(pid: string): string[] {
  return read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
}

/** Returns an empty text for a process that has just ended. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
