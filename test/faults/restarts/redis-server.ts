// A Redis server for tests that kill it: the installed one, or one that this file installs if possible.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '@shop/shared/embedded';
import { installPackage } from '@shop/shared/testing';

export interface RealRedis {
  readonly url: string;
  readonly version: string;
  /** Sends SIGKILL, or SIGSTOP and SIGCONT to make it hang. */
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** Starts it again, on the same port and without data. */
  start(): Promise<void>;
}

const programs = ['redis-server', 'valkey-server'];
const run = promisify(execFile);

/**
 * Starts a server on a free port of the loopback interface.
 * @throws Error that names the searched programs when no server is installed and none can be installed
 */
export async function startRealRedis(): Promise<RealRedis> {
  const program = (await findProgram()) ?? (await install());
  const [port = 0] = await freePorts(1);
  const { stdout } = await run(program, ['--version']);
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    child = spawn(program, options, { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of child.stdout ?? []) if (String(line).includes('Ready to accept connections')) break;
    child.stdout?.resume();
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    version: /v=(\S+)/.exec(stdout)?.[1] ?? stdout.trim(),
    async signal(signal) {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = signal === 'SIGKILL' ? once(child, 'exit') : undefined;
      child.kill(signal);
      await ended;
    },
    start,
  };
}

async function findProgram(): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of programs) {
      const path = join(folder, name);
      const found = await access(path, 1).then(
        () => true,
        () => false,
      );
      if (found) return path;
    }
  }
  return undefined;
}

async function install(): Promise<string> {
  const wish = `this test needs ${programs.join(' or ')} in the PATH`;
  try {
    await installPackage('redis-server');
  } catch (cause) {
    throw new Error(`${wish}, or root on Debian or Ubuntu to install redis-server`, { cause });
  }
  const installed = await findProgram();
  if (installed === undefined) throw new Error(`${wish}; the package redis-server brought none`);
  return installed;
}
