// The processor time of a process and its children, from /proc. It does not depend on other load of the machine.
import { readdirSync, readFileSync } from 'node:fs';

const millisecondsPerTick = 10;

/** Processor time that was used so far, in milliseconds, without that of children of `ancestor` that have ended. */
export function processorTime(ancestor: number): number {
  return [...processorTimes(ancestor).values()].reduce((sum, time) => sum + time, 0);
}

/** The same by part: the name of a process of the shop, `PostgreSQL`, `RabbitMQ`, or `others`. */
export function processorTimes(ancestor: number): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const { part, ticks } of processesBelow(ancestor))
    times.set(part, (times.get(part) ?? 0) + ticks * millisecondsPerTick);
  return times;
}

/** Megabytes of resident memory, by part. */
export function residentMemory(ancestor: number): ReadonlyMap<string, number> {
  const memory = new Map<string, number>();
  for (const { pid, part } of processesBelow(ancestor)) {
    const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
    memory.set(part, (memory.get(part) ?? 0) + kilobytes / 1_024);
  }
  return memory;
}

interface Descendant {
  readonly pid: number;
  readonly part: string;
  readonly ticks: number;
}

function processesBelow(ancestor: number): Descendant[] {
  const children = new Map<number, { pid: number; ticks: number }[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const fields = statOf(name);
    const parent = Number(fields[1]);
    // Its own time, and that of its children that have ended, such as the processes of closed database connections.
    const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index] ?? 0), 0);
    children.set(parent, [...(children.get(parent) ?? []), { pid: Number(name), ticks }]);
  }
  const descend = (parent: number): Descendant[] =>
    (children.get(parent) ?? []).flatMap(({ pid, ticks }) => [{ pid, part: findPart(pid), ticks }, ...descend(pid)]);
  return descend(ancestor);
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
