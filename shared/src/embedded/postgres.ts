// Starts and stops an embedded PostgreSQL on the loopback interface. Its data stays on the disk.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { initialise, keptPassword, makeDataFolder } from './cluster.ts';
import { type FolderLock, lockFolder } from './folder-lock.ts';
import { freePorts } from './free-ports.ts';
import { stopOrphan } from './orphan.ts';
import { bareContext, chooseUser, type RunAs, reachablePrograms } from './run-as.ts';

export interface EmbeddedPostgresOptions {
  /** The folder of the data, the superuser's password and the server's log. It is created when it does not exist. */
  dataDir: string;
  /** The TCP port on 127.0.0.1. Default: a free port. */
  port?: number;
  /** Whether commits survive a crash of the machine. False is for tests only. */
  durable: boolean;
  /** Whether the data must exist, because the server ran on it before. Default: missing data is created. */
  mustExist?: boolean;
}

/** The data of the server was deleted. */
export class DataGoneError extends Error {
  constructor(missing: string) {
    super(`${missing} is gone`);
    this.name = 'DataGoneError';
  }
}

export interface EmbeddedPostgres {
  /** Connection string of the superuser, for the database `postgres`. */
  readonly url: string;
  readonly port: number;
  /** Resolves when the server has ended for any reason. */
  readonly ended: Promise<void>;
  /**
   * Stops the server and waits until it has exited. Further calls have no effect.
   * @param hangs whether the server no longer responds, so that it is not asked to close its sessions first
   */
  stop(hangs?: boolean): Promise<void>;
}

/**
 * Starts PostgreSQL on a data folder, which is initialised at the first start: UTF-8, byte-wise collation, UTC,
 * passwords by SCRAM-SHA-256, no Unix socket. When root calls this, the server runs as an unprivileged user. The server
 * stops soon after this process exits. A running server that a dead process has left is stopped first.
 * @throws DataGoneError when the data must exist and does not
 * @throws Error with one line that names the cause: the folder is not writable or in use, the port is taken, the server
 * does not start
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  if (options.mustExist) await requireData(dataDir);
  await makeDataFolder(dataDir);
  const lock = await lockFolder(dataDir);
  try {
    const link = join(dataDir, 'cluster');
    const existing = await realpath(link).catch(() => undefined);
    const user = await chooseUser(existing);
    const programs = join(await reachablePrograms(user), 'bin');
    const password = await keptPassword(dataDir, existing !== undefined);
    const cluster = existing ?? (await initialise({ dataDir, link, programs, user, password }));
    const staleId = await stopOrphan(cluster);
    const port = options.port ?? (await freePorts(1))[0] ?? 0;
    const log = join(dataDir, 'postgres.log');
    const server = await launch({ programs, cluster, user, port, log, staleId, durable: options.durable });
    return running({ server, lock, port, password, durable: options.durable });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** @throws DataGoneError that names the first of the folders and files that does not exist */
export async function requireData(dataDir: string): Promise<void> {
  for (const path of [dataDir, join(dataDir, 'cluster'), join(dataDir, 'cluster/PG_VERSION')]) {
    await stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') throw new DataGoneError(path);
    });
  }
}

interface Launch {
  programs: string;
  cluster: string;
  user: RunAs;
  port: number;
  log: string;
  /** See `stopOrphan`. */
  staleId: number | undefined;
  durable: boolean;
}

async function launch({ programs, cluster, user, port, log, staleId, durable }: Launch): Promise<ChildProcess> {
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    timezone: 'UTC',
    log_timezone: 'UTC',
    max_connections: '200',
    jit: 'off',
    // With I/O workers (PostgreSQL 18), every connection can wait forever after a backend and the workers were killed.
    io_method: 'sync',
    log_checkpoints: 'off',
    // The buffers are large enough for the indexes of a large catalogue, and the log for filling it without a
    // checkpoint every few seconds.
    shared_buffers: '256MB',
    wal_buffers: '32MB',
    max_wal_size: '4GB',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
  const output = await open(log, 'a', 0o600);
  const { size: start } = await output.stat();
  const { env, ...context } = bareContext(user);
  // PostgreSQL ignores a process file that names its parent's parent, as pg_ctl sets it. It still does not start while
  // a process of the previous server uses the data.
  const environment = staleId === undefined ? env : { ...env, PG_GRANDPARENT_PID: String(staleId) };
  try {
    const server = spawn(
      join(programs, 'postgres'),
      ['-D', cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      // The server runs in its own process group, so that Ctrl-C reaches only the launcher, which stops the processes
      // in order.
      { ...context, env: environment, detached: true, stdio: ['ignore', output.fd, output.fd] },
    );
    await Promise.race([once(server, 'spawn'), once(server, 'error').then(([error]) => Promise.reject(error))]);
    guard(server);
    while (!(await isReady(cluster, server.pid))) {
      if (server.exitCode !== null || server.signalCode !== null) {
        const written = (await readFile(log)).subarray(start).toString('utf8');
        const reason = written.split('\n').find((line) => line.includes('FATAL:') || line.includes('LOG:  could not'));
        throw new Error(`PostgreSQL does not start: ${reason?.replace(/^.*?(FATAL|LOG):\s+/, '') ?? `see ${log}`}`);
      }
      await sleep(10);
    }
    return server;
  } finally {
    await output.close();
  }
}

/** Stops the server when this process exits for any reason, also while the server starts. */
function guard(server: ChildProcess): void {
  // The standard input of this shell closes when this process ends.
  const shell = spawn('/bin/sh', ['-c', 'cat; sleep 2; kill -INT "$0"', String(server.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.on('error', () => undefined);
  shell.unref();
  server.once('exit', () => {
    const runs = shell.exitCode === null && shell.signalCode === null;
    if (shell.pid !== undefined && runs) process.kill(-shell.pid, 'SIGKILL');
  });
}

/**
 * Waits, as pg_ctl does, until the last line of postmaster.pid states that connections are accepted (on a replica, for
 * reading).
 */
async function isReady(cluster: string, pid: number | undefined): Promise<boolean> {
  const lines = (await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  return lines[0] === String(pid) && ['ready', 'standby'].includes(lines[7]?.trim() ?? '');
}

/** Signals, and the milliseconds until the next one follows. */
const immediateStop = [
  ['SIGQUIT', 10_000],
  ['SIGKILL', 1_000],
] as const;
const fastStop = [['SIGINT', 20_000], ...immediateStop] as const;

interface Running {
  server: ChildProcess;
  lock: FolderLock;
  port: number;
  password: string;
  durable: boolean;
}

function running({ server, lock, port, password, durable }: Running): EmbeddedPostgres {
  const ended = new Promise<void>((done) => {
    if (server.exitCode !== null || server.signalCode !== null) done();
    else server.once('exit', () => done());
  }).then(() => lock.release());
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    port,
    ended,
    async stop(hangs = false) {
      // A fast shutdown closes sessions and writes all data. An immediate one is like a crash, and is used for a server
      // that hangs, and for data that is deleted afterwards.
      const signals = durable && !hangs ? fastStop : immediateStop;
      for (const [signal, within] of signals) {
        server.kill(signal);
        const isOver = ended.then(() => true);
        if (await Promise.race([isOver, sleep(within, false, { ref: false })])) return;
      }
      await ended;
    },
  };
}
