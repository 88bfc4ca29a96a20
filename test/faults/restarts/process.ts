// A process of the shop that tests stop as an operator does and start again at the same address.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Environment } from '@shop/shared/runtime';
import { eventually, plainEnvironment } from '@shop/shared/testing';
import { request } from 'undici';

export interface ShopProcess {
  readonly name: string;
  readonly url: string;
  output(): string;
  untilReady(): Promise<void>;
  /**
   * Sends SIGTERM, and then starts a new process.
   * @returns the exit code and the signal of the old one
   */
  replace(changed?: Changed): Promise<readonly [number | null, NodeJS.Signals | null]>;
  kill(): void;
}

/** The difference between a process and its replacement, which also applies to later replacements. */
export interface Changed {
  readonly environment?: Environment;
  /** The folder of the release that the new process runs, unless that release does not have the process. */
  readonly tree?: string;
}

export interface Launch {
  readonly name: string;
  /** The folder of the release, which ends with a slash. */
  readonly tree: string;
  /** The path of the module in this folder. */
  readonly main: string;
  readonly url: string;
  readonly environment: Readonly<Record<string, string>>;
}

const readyWithin = 60_000;

export function startProcess({ name, tree, main, url, environment }: Launch): ShopProcess {
  let output = '';
  let present: Required<Changed> = { environment, tree };
  const start = (): ChildProcess => {
    const env = { ...plainEnvironment(), ...present.environment };
    const child = spawn(process.execPath, [`${present.tree}${main}`], {
      env,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (data) => {
        output += String(data);
      });
    }
    return child;
  };
  let child = start();
  const untilReady = (): Promise<void> =>
    eventually(async () => {
      const { status, text } = await readiness(url);
      if (status !== 200) throw new Error(`${name} is not ready: ${status} ${text}\n${output.slice(-2_000)}`);
    }, readyWithin);
  return {
    name,
    url,
    output: () => output,
    untilReady,
    async replace(changed = {}) {
      const isThere = changed.tree !== undefined && existsSync(`${changed.tree}${main}`);
      const tree = isThere ? changed.tree : present.tree;
      present = { tree, environment: { ...present.environment, ...changed.environment } };
      const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
      child.kill('SIGTERM');
      const ending = await exited;
      child = start();
      await untilReady();
      return ending;
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

export async function isReady(url: string): Promise<boolean> {
  return (await readiness(url)).status === 200;
}

/** Reads the readiness of a process over a new connection. @returns the status 0, and the reason, without a response */
async function readiness(url: string): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const signal = AbortSignal.timeout(2_000);
    const { statusCode, body } = await request(`${url}/health/ready`, { signal, reset: true });
    return { status: statusCode, text: await body.text() };
  } catch (error) {
    return { status: 0, text: String(error) };
  }
}
