// Runs `npm start` in a data folder of its own for tests: waits until it is ready, stops it, and finds processes that
// are left.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '@shop/shared/embedded';
import { eventually, highHoldLimits, plainEnvironment } from '@shop/shared/testing';
import pg from 'pg';
import type { RunningShop } from '../src/shop/data-folder.ts';
import type { HostedCommand } from './command-host.ts';
import { checkOutput } from './output-contract.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly complaints: string;
}

export interface StartedShop {
  readonly gateway: string;
  readonly dataDir: string;
  readonly child: ChildProcess;
  /** Resolves with the table when the shop is ready; rejects with its output when it ends before. */
  readonly ready: Promise<string>;
  readonly ended: Promise<Ended>;
  /** Its standard output so far. */
  output(): string;
  /** Sends the signal to the launcher and waits until it has ended. */
  end(signal?: NodeJS.Signals): Promise<Ended>;
}

export interface LaunchOptions {
  readonly dataDir: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The command; by default what `npm start` runs. */
  readonly command?: readonly [string, ...string[]];
  /** The checkout that is started; by default this one. */
  readonly checkout?: string;
}

const endWithin = 40_000;
const usual: readonly [string, ...string[]] = [process.execPath, 'cli/src/start.ts'];

export async function launchShop(options: LaunchOptions): Promise<StartedShop> {
  const { dataDir, environment = {}, command = usual, checkout = root } = options;
  const [port = 0] = environment.GATEWAY_PORT === undefined ? await freePorts(1) : [Number(environment.GATEWAY_PORT)];
  const [program, ...parameters] = command;
  const child = spawn(program, parameters, {
    cwd: checkout,
    env: {
      ...plainEnvironment(),
      ...highHoldLimits,
      SHOP_DATA_DIR: dataDir,
      GATEWAY_PORT: String(port),
      ...environment,
    },
    // The shop ends with this process, also when a signal ends it: the IPC channel closes.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const written = { output: '', complaints: '' };
  const ended = once(child, 'close').then(([code]): Ended => ({ code: code as number | null, ...written }));
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (data) => {
      written.output += String(data);
      if (written.output.includes('/cancel')) resolve(written.output);
    });
    child.stderr?.on('data', (data) => {
      written.complaints += String(data);
    });
    ended.then(
      ({ code, output, complaints }) => reject(new Error(`exit code ${code}: ${output}${complaints}`)),
      reject,
    );
  });
  ready.catch(() => {}); // a test that expects the end does not wait for it
  return {
    gateway: `http://localhost:${port}`,
    dataDir,
    child,
    ready,
    ended,
    output: () => written.output,
    async end(signal = 'SIGINT') {
      child.kill(signal);
      const late = setTimeout(() => child.kill('SIGKILL'), endWithin);
      const how = await ended;
      clearTimeout(late);
      return how;
    },
  };
}

/** What the running shop has announced to the command line. */
export async function runningShop(dataDir: string): Promise<RunningShop> {
  return JSON.parse(await readFile(join(dataDir, 'running.json'), 'utf8')) as RunningShop;
}

/** The addresses of the shop's processes and database that still accept connections. */
export async function stillListening(shop: RunningShop): Promise<string[]> {
  const addresses = [...Object.values(shop.processes), shop.databases.orders ?? ''].map((address) => new URL(address));
  const open = await Promise.all(
    addresses.map(async ({ hostname, port }) => {
      const socket = connect({ host: hostname, port: Number(port) });
      try {
        await once(socket, 'connect');
        return [port];
      } catch {
        return [];
      } finally {
        socket.destroy();
      }
    }),
  );
  return open.flat();
}

type Words = (string | Readonly<Record<string, string>>)[];

/** The process that runs commands. It ends ten seconds after its last one, and is not used from half of them on. */
const host = { child: undefined as ChildProcess | undefined, usableUntil: 0, isBusy: false };
const usableFor = 5_000;

/**
 * Runs the command line on a data folder, in a process that runs further commands later. A command that begins while
 * another one runs gets a process of its own. Environment variables may precede the parameters.
 * @throws Error when the output of a command with --json deviates from cli/outputs.yaml
 */
export async function runShop(dataDir: string, ...words: Words): Promise<Ended> {
  const parameters = words.filter((word) => typeof word === 'string');
  const environment = environmentOf(dataDir, words);
  // NODE_OPTIONS change the start of a process.
  if (host.isBusy || environment.NODE_OPTIONS !== undefined) return startCommand(dataDir, ...words).ended;
  host.isBusy = true;
  try {
    const ended = await runHosted({ words: parameters, environment });
    checkOutput(parameters, ended.output);
    return ended;
  } finally {
    host.isBusy = false;
  }
}

function environmentOf(dataDir: string, [first]: Words): Record<string, string> {
  return { ...plainEnvironment(), SHOP_DATA_DIR: dataDir, ...(typeof first === 'object' && first) };
}

async function runHosted(command: HostedCommand): Promise<Ended> {
  if (host.child?.connected !== true || performance.now() > host.usableUntil) {
    host.child = fork('cli/test/command-host.ts', {
      cwd: root,
      env: plainEnvironment(),
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    host.child.unref();
  }
  const { child } = host;
  child.channel?.ref();
  child.send(command);
  const over = new AbortController();
  const { signal } = over;
  const gone = once(child, 'exit', { signal }).then(() =>
    Promise.reject(new Error(`the process of ${command.words} ended`)),
  );
  const [ended] = await Promise.race([once(child, 'message', { signal }), gone]);
  gone.catch(() => {}); // the abort
  over.abort();
  child.channel?.unref();
  host.usableUntil = performance.now() + usableFor;
  return ended as Ended;
}

/** Starts the command line as `runShop` does. */
export function startCommand(
  dataDir: string,
  ...words: Words
): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
  const parameters = words.filter((word) => typeof word === 'string');
  const child = spawn(process.execPath, ['cli/src/shop.ts', ...parameters], {
    cwd: root,
    env: environmentOf(dataDir, words),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { output: '', complaints: '' };
  child.stdout.on('data', (data) => {
    written.output += String(data);
  });
  child.stderr.on('data', (data) => {
    written.complaints += String(data);
  });
  const ended = once(child, 'close').then(([code]) => {
    checkOutput(parameters, written.output);
    return { code: code as number | null, ...written };
  });
  return { child, ended };
}

/** Finds the process that listens at an address of this machine, by its log. */
export async function processIdOf(dataDir: string, name: string): Promise<number> {
  return eventually(async () => {
    const lines = (await readFile(join(dataDir, 'logs', `${name}.log`), 'utf8')).trim().split('\n');
    const { pid } = JSON.parse(lines.at(-1) ?? '{}') as { pid?: number };
    if (pid === undefined) throw new Error(`no process id in the last line of ${name}.log`);
    return pid;
  });
}

/** The JSON output of a command. @throws Error with its message when it prints nothing */
export async function askShop<T>(dataDir: string, ...parameters: string[]): Promise<T> {
  const { output, complaints } = await runShop(dataDir, ...parameters, '--json');
  if (output === '') throw new Error(complaints);
  return JSON.parse(output) as T;
}

/** Runs one statement as the role of a service. */
export async function queryShop<T extends object>(
  { databases }: RunningShop,
  schema: string,
  text: string,
  values: unknown[] = [],
): Promise<T[]> {
  const client = new pg.Client({ connectionString: databases[schema] });
  await client.connect();
  try {
    return (await client.query<T>(text, values)).rows;
  } finally {
    await client.end();
  }
}
