// One PostgreSQL server with its Patroni.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunAs } from '../../../shared/src/embedded/run-as.ts';
import type { Machine } from './machines.ts';
import { signalTo, withDescendants } from './processes.ts';

export const superuserPassword = 'only-for-tests';

export interface MemberOptions {
  readonly machine: Machine;
  readonly folder: string;
  readonly user: RunAs;
  readonly programs: { readonly patroni: string; readonly postgres: string };
  readonly etcdHosts: readonly string[];
}

/** The ports of PostgreSQL and of Patroni's API. */
export const ports = { postgres: 5432, api: 8008 };

/** What all members of the cluster have in common. Commits wait for a standby, even when there is none. */
const shared = {
  ttl: 20,
  loop_wait: 2,
  retry_timeout: 5,
  synchronous_mode: true,
  synchronous_mode_strict: true,
  postgresql: {
    use_pg_rewind: true,
    parameters: {
      max_connections: 200,
      shared_buffers: '128MB',
      timezone: 'UTC',
      jit: 'off',
      wal_log_hints: 'on',
      wal_keep_size: '256MB',
      wal_sender_timeout: '5s',
      wal_receiver_timeout: '5s',
      // Ends the transactions of clients that a partition has cut off, so that their locks are released.
      tcp_keepalives_idle: '5s',
      tcp_keepalives_interval: '2s',
      tcp_keepalives_count: 3,
      tcp_user_timeout: '10s',
    },
  },
};

export class Member {
  readonly machine: Machine;
  readonly #options: MemberOptions;
  readonly #folder: string;
  #patroni: ChildProcess | undefined;
  #frozen: readonly number[] = [];

  constructor(options: MemberOptions) {
    this.#options = options;
    this.machine = options.machine;
    this.#folder = join(options.folder, this.name);
  }

  get name(): string {
    return this.machine.name;
  }

  /** Its host and port for the processes of the shop. */
  get host(): string {
    return `${this.machine.address.shop}:${ports.postgres}`;
  }

  get url(): string {
    return `postgres://postgres:${superuserPassword}@${this.host}/postgres`;
  }

  /** The configuration of Patroni and of `patronictl`. */
  get configuration(): string {
    return join(this.#folder, 'patroni.yml');
  }

  async prepare(): Promise<void> {
    const { uid, gid } = this.#options.user;
    await mkdir(this.#folder, { mode: 0o700 });
    // JSON is YAML, too.
    await writeFile(this.configuration, JSON.stringify(this.#settings(), undefined, 2), { mode: 0o600 });
    if (uid === undefined || gid === undefined) return;
    await chown(this.#folder, uid, gid);
    await chown(this.configuration, uid, gid);
  }

  start(): void {
    const { programs, user } = this.#options;
    const log = openSync(this.log, 'a');
    const environment = { PATH: process.env.PATH, HOME: this.#folder, LC_ALL: 'C.UTF-8', TZ: 'UTC' };
    this.#patroni = spawn(...this.machine.command(programs.patroni, [this.configuration], user), {
      env: environment,
      cwd: '/',
      stdio: ['ignore', log, log],
    });
    closeSync(log);
  }

  get log(): string {
    return join(this.#options.folder, `${this.name}.log`);
  }

  /** Kills Patroni and PostgreSQL, like a loss of power. The data is kept. */
  async kill(): Promise<void> {
    await this.#signal('SIGKILL');
  }

  /** Suspends Patroni and PostgreSQL, like a machine that hangs: connections stay open and nothing answers. */
  async freeze(): Promise<void> {
    this.#frozen = await this.#signal('SIGSTOP');
  }

  async thaw(): Promise<void> {
    for (const pid of this.#frozen) signalTo(pid, 'SIGCONT');
    this.#frozen = [];
  }

  /** @returns the processes that got the signal */
  async #signal(signal: NodeJS.Signals): Promise<readonly number[]> {
    const { pid, exitCode, signalCode } = this.#patroni ?? {};
    const patroni = pid !== undefined && exitCode === null && signalCode === null ? [pid] : [];
    const lines = await readFile(join(this.#folder, 'data', 'postmaster.pid'), 'utf8').catch(() => '');
    const server = Number(lines.split('\n')[0]);
    const isRunning = server > 0 && (await commandOf(server)).includes(this.#folder);
    const pids = await withDescendants([...patroni, ...(isRunning ? [server] : [])]);
    for (const each of pids) signalTo(each, signal);
    return pids;
  }

  #settings(): object {
    const { etcdHosts, programs } = this.#options;
    const { peers } = this.machine.address;
    const superuser = { username: 'postgres', password: superuserPassword };
    return {
      scope: 'shop',
      name: this.name,
      restapi: { listen: `0.0.0.0:${ports.api}`, connect_address: `${peers}:${ports.api}` },
      // With the newer API of etcd (`etcd3`), Patroni 3.0.2 of Debian 12 takes the leadership back without an election
      // when a primary continues that was suspended. The commits on the new primary are then lost.
      etcd: { hosts: etcdHosts },
      bootstrap: { dcs: shared, initdb: [{ encoding: 'UTF8' }, { locale: 'C' }] },
      postgresql: {
        listen: `0.0.0.0:${ports.postgres}`,
        connect_address: `${peers}:${ports.postgres}`,
        data_dir: join(this.#folder, 'data'),
        bin_dir: programs.postgres,
        pgpass: join(this.#folder, 'pgpass'),
        authentication: {
          superuser,
          rewind: superuser,
          replication: { username: 'replicator', password: superuserPassword },
        },
        parameters: { unix_socket_directories: '', password_encryption: 'scram-sha-256' },
        pg_hba: ['host all all all scram-sha-256', 'host replication replicator all scram-sha-256'],
        remove_data_directory_on_rewind_failure: true,
        remove_data_directory_on_diverged_timelines: true,
      },
    };
  }
}

async function commandOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
}
