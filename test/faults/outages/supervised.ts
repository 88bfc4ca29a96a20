// A process of the shop that is started again whenever it dies, as Compose, Kubernetes and `npm start` do.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { plainEnvironment } from '@shop/shared/testing';
import type { CrashPoint } from './crash-points.ts';
import type { Random } from './random.ts';
import type { ClockReport } from './shifted-clock.ts';

export interface Supervised {
  readonly name: string;
  /** The address of the process itself, without a proxy. */
  readonly url: string;
  /** The id of the running process; undefined when it could not be started. */
  pid(): number | undefined;
  /** How often it has died so far, for any reason. */
  deaths(): number;
  /** Describes each end of the process since the last call that was caused neither by `kill` nor by `crashAt`. */
  accidents(): readonly string[];
  kill(signal: NodeJS.Signals): void;
  /** Makes the process kill itself the next time that it reaches this point, only for this account if one is given. */
  crashAt(point: CrashPoint, account?: string): void;
  /** Sets the clock of the process, and of those that replace it, ahead by this number of milliseconds. */
  setClock(ahead: number): void;
  /** The last reported difference of its clock in milliseconds; 0 before it was set. */
  clockAhead(): number;
  /** The end of its output. */
  output(): string;
  stop(): Promise<void>;
}

export interface Launch {
  readonly name: string;
  readonly url: string;
  /** The path of the module to run. */
  readonly main: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly random: Random;
}

/**
 * Milliseconds until the process is started again. The time is random, so that processes that are killed together start
 * in any order.
 */
const restartAfter = { least: 200, most: 800 };
const preloaded = ['shifted-clock.ts', 'crash-points.ts'].flatMap((file) => [
  '--import',
  fileURLToPath(new URL(file, import.meta.url)),
]);

export function supervise({ name, url, main, environment, random }: Launch): Supervised {
  let output = '';
  let deaths = 0;
  const accidents: string[] = [];
  let stopping = false;
  let ahead = 0;
  let toldAhead = 0;
  let child: ChildProcess;
  /** The processes that may end by SIGKILL. */
  const condemned = new WeakSet<ChildProcess>();

  const start = (): void => {
    const started = spawn(process.execPath, [...preloaded, main], {
      env: { ...plainEnvironment(), ...environment, CLOCK_AHEAD: String(ahead) },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    child = started;
    const keep = (data: unknown): void => {
      output = (output + String(data)).slice(-20_000);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    child.on('error', keep);
    child.on('message', (message) => {
      if (typeof message === 'object' && 'clock' in message) toldAhead = (message as ClockReport).clock - Date.now();
    });
    child.on('exit', () => {
      deaths += 1;
      if (!stopping) setTimeout(() => stopping || start(), random.integer(restartAfter.least, restartAfter.most));
    });
    // `close` comes after `exit`, when all output has been read.
    child.on('close', (code, signal) => {
      if (!stopping && !(signal === 'SIGKILL' && condemned.has(started)))
        accidents.push(`${name} ended by itself (${code ?? signal}): ${output.slice(-2_000)}`);
    });
  };
  start();

  return {
    name,
    url,
    pid: () => child.pid,
    deaths: () => deaths,
    accidents: () => accidents.splice(0),
    kill(signal) {
      if (signal === 'SIGKILL') condemned.add(child);
      child.kill(signal);
    },
    crashAt(crashAt, account) {
      condemned.add(child);
      child.send({ crashAt, account }, () => {});
    },
    setClock(milliseconds) {
      ahead = milliseconds;
      child.send({ clockAhead: ahead }, () => {});
    },
    clockAhead: () => toldAhead,
    output: () => output,
    async stop() {
      stopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      await ended;
    },
  };
}
