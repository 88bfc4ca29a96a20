// The stage of the benchmark: a scratch PostgreSQL with seeded products, and the servers under test, each on one core.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { seedProducts } from '@shop/catalogue/operator';
import { provisionDatabase, type SchemaName, schemas } from '@shop/shared/database';
import { freePorts, startEmbeddedPostgres } from '@shop/shared/embedded';
import { memoryBounds } from '@shop/shared/runtime';
import pg from 'pg';
import { undoAtSignal } from '../../cli/src/shop/clean-up.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const roles = Object.fromEntries(schemas.map((name) => [name, 'only-for-the-benchmark'])) as Record<SchemaName, string>;
const ticksPerSecond = 100;
const compiled = join(tmpdir(), 'shop-bench-compiled');
export const cursorKey = Buffer.alloc(32, 7);

/** Runs a program of this repository. Rejects unless it exits with 0. */
async function run(file: string, options: readonly string[], environment: Record<string, string>): Promise<void> {
  const child = spawn(process.execPath, [join(root, file), ...options], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${file} ended with ${code}`);
}

export interface Stage {
  /** Creates a database with `products` products. @returns the connection string of each role */
  database(name: string, products: number): Promise<Record<SchemaName, string>>;
  close(): Promise<void>;
}

export async function openStage(): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'shop-bench-'));
  const starting = startEmbeddedPostgres({ dataDir: folder, durable: false });
  const close = undoAtSignal(async () => {
    await (await starting).stop();
    await rm(folder, { recursive: true, force: true });
  });
  const server = await starting;
  return {
    close,
    async database(name, products) {
      const urls = await provisionDatabase({ adminUrl: server.url, database: name, roles });
      const environment = { DATABASE_URL: urls.catalogue, SHOP_CURRENCY: 'EUR' };
      await run('services/catalogue/src/migrate.ts', [], environment);
      await seedProducts(environment, { count: products, seed: 42 });
      const client = new pg.Client({ connectionString: urls.catalogue });
      await client.connect();
      await client.query('VACUUM (ANALYZE)');
      await client.end();
      return urls;
    },
  };
}

export interface Running {
  readonly port: number;
  readonly pid: number;
  /** Processor time so far, in seconds. */
  cpu(): number;
  /** Resident memory in MiB, and its maximum. */
  memory(): { now: number; peak: number };
  stop(): Promise<void>;
}

/**
 * Reserves the first of two cores for the server under test. All other processes, including PostgreSQL, use the second
 * one.
 */
export function leaveFirstCore(): boolean {
  if (availableParallelism() < 2) return false;
  try {
    execFileSync('taskset', ['-a', '-cp', `1-${availableParallelism() - 1}`, String(process.pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Starts a server, on the first core if cores can be assigned, and waits until it answers. */
export async function start(
  file: string,
  environment: Record<string, string>,
  core: string | undefined,
): Promise<Running> {
  const [port = 0] = await freePorts(1);
  const command = [process.execPath, join(root, file)];
  const [program = '', ...options] = core === undefined ? command : ['taskset', '-c', core, ...command];
  const child = spawn(program, options, {
    // Compiled code is cached between starts and memory is limited, as by `npm start`.
    env: {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: compiled,
      ...memoryBounds,
      ...environment,
      PORT: String(port),
      GATEWAY_PORT: String(port),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const stop = undoAtSignal(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  await untilListening(child, port).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return {
    port,
    pid: child.pid ?? 0,
    cpu() {
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
    },
    memory() {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      const of = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
      return { now: of('VmRSS'), peak: of('VmHWM') };
    },
    stop,
  };
}

async function untilListening(child: ChildProcess, port: number): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    if (child.exitCode !== null) break;
    const answered = await fetch(`http://127.0.0.1:${port}/health/live`).then(
      () => true,
      () => false,
    );
    if (answered) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('a server did not start');
}
