// `logs`: the newest lines of the logs, of one process or of all by time.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLineFormatter, StartError } from '@shop/shared/runtime';
import { operatorCommand } from '@shop/shared/shop';
import { Command } from 'commander';
import { dataFolder } from '../shop/data-folder.ts';
import { LogTail } from '../shop/log-tail.ts';
import { requireNpm } from '../shop/require-npm.ts';
import { givenEnvironment, readSettings } from '../shop/settings.ts';
import { limit } from './arguments.ts';

interface LogOptions {
  readonly follow?: boolean;
  readonly lines: number;
  readonly json?: boolean;
}

const lookEvery = 300;

export function logsCommand(): Command {
  return new Command('logs')
    .argument('[process]', 'such as gateway or orders; all processes when it is absent')
    .option('-f, --follow', 'show new lines until Ctrl-C')
    .option('--lines <number>', 'how many of the newest lines', limit, 50)
    .option('--json', 'print the lines as they are in the files')
    .action(showLogs);
}

async function showLogs(process: string | undefined, { follow, lines, json }: LogOptions): Promise<void> {
  requireNpm('logs', operatorCommand('logs', process ?? 'PROCESS'));
  const { logs } = dataFolder(readSettings(givenEnvironment()).dataDir);
  const tails = await openTails(logs, process);
  const show = createDisplay(json === true, Math.max(...tails.map(({ name }) => name.length)));
  const newest = await Promise.all(
    tails.map(async ({ name, tail }) => (await tail.newest(lines)).map((line) => ({ name, line }))),
  );
  show(byTime(newest.flat()).slice(-lines));
  while (follow === true) {
    await sleep(lookEvery);
    const added = await Promise.all(
      tails.map(async ({ name, tail }) => (await tail.added()).map((line) => ({ name, line }))),
    );
    show(byTime(added.flat()));
  }
}

/** @throws StartError when there are no logs, or none of this process */
async function openTails(logs: string, process: string | undefined) {
  const files = await readdir(logs).catch(() => []);
  const names = files.filter((file) => file.endsWith('.log')).map((file) => file.slice(0, -'.log'.length));
  if (names.length === 0) {
    throw new StartError(`there are no logs in ${logs}: run ${operatorCommand('start')}, or set SHOP_DATA_DIR`);
  }
  if (process !== undefined && !names.includes(process))
    throw new StartError(`there is no log of ${process}: the logs are ${names.sort().join(', ')}`);
  return (process === undefined ? names.sort() : [process]).map((name) => {
    return { name, tail: new LogTail(join(logs, `${name}.log`)) };
  });
}

interface Line {
  readonly name: string;
  readonly line: string;
}

/** Sorts lines by time. A line without a time stays after the previous line of its file. */
function byTime(lines: readonly Line[]): Line[] {
  const times = new Map<string, string>();
  const timed = lines.map((each) => {
    const time = /^\{.*"time":"([^"]+)"/.exec(each.line)?.[1] ?? times.get(each.name) ?? '';
    times.set(each.name, time);
    return { ...each, time };
  });
  return timed.sort((one, other) => (one.time < other.time ? -1 : one.time > other.time ? 1 : 0));
}

/** Returns a function that prints lines, for people with the name of the process before each. */
function createDisplay(json: boolean, width: number): (lines: readonly Line[]) => void {
  const format = createLineFormatter(process.stdout.isTTY === true && process.env.NO_COLOR === undefined);
  const text = ({ name, line }: Line): string => (json ? line : `${name.padEnd(width)}  ${format(line)}`);
  return (lines) => {
    if (lines.length > 0) process.stdout.write(`${lines.map(text).join('\n')}\n`);
  };
}
