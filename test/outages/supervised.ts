// A process of the shop that is started again whenever it dies, as compose, Kubernetes and `npm start` do.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { CrashPoint } from './crash-points.ts';

export interface Supervised {
  readonly name: string;
  /** How often it has died so far, whoever killed it. */
  deaths(): number;
  kill(signal: NodeJS.Signals): void;
  /** Has the process kill itself the next time that it comes by this point. */
  crashAt(point: CrashPoint): void;
  /** The end of what it has written. */
  output(): string;
  stop(): Promise<void>;
}

export interface Launch {
  readonly name: string;
  /** The module to run. */
  readonly main: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Milliseconds; a random time, so that processes killed together start in any order. */
const restartAfter = { least: 200, most: 800 };
const crashPoints = fileURLToPath(new URL('./crash-points.ts', import.meta.url));

function delay(): number {
  return restartAfter.least + Math.random() * (restartAfter.most - restartAfter.least);
}

export function supervise({ name, main, environment }: Launch): Supervised {
  let output = '';
  let deaths = 0;
  let stopping = false;
  let child: ChildProcess;

  const start = (): void => {
    child = spawn(process.execPath, ['--import', crashPoints, main], {
      env: { PATH: process.env.PATH ?? '', ...environment },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const keep = (data: unknown): void => {
      output = (output + String(data)).slice(-20_000);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    child.on('error', keep);
    child.on('exit', () => {
      deaths += 1;
      if (!stopping) setTimeout(() => stopping || start(), delay());
    });
  };
  start();

  return {
    name,
    deaths: () => deaths,
    kill: (signal) => void child.kill(signal),
    crashAt: (point) => void child.send({ crashAt: point }, () => {}),
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
