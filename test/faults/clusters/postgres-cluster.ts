// Three PostgreSQL servers with Patroni and synchronous replication, three nodes of etcd, and HAProxy.
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '@shop/shared/embedded';
import { eventually } from '@shop/shared/testing';
import pg from 'pg';
import { chooseUser } from '../../../shared/src/embedded/run-as.ts';
import { type Etcd, startEtcd } from './etcd.ts';
import { startHaproxy } from './haproxy.ts';
import type { Machine } from './machines.ts';
import { Member, ports, superuserPassword } from './patroni.ts';
import { findPostgres, findProgram } from './programs.ts';

const startWithin = 180_000;

export class PostgresCluster {
  readonly members: readonly Member[];
  readonly etcd: Etcd;
  /** The host and port of HAProxy. */
  readonly host: string;
  /** A folder that the user of PostgreSQL can reach. It is removed when the cluster stops. */
  readonly folder: string;
  readonly #stops: readonly (() => Promise<unknown>)[];

  constructor(parts: {
    members: readonly Member[];
    etcd: Etcd;
    host: string;
    folder: string;
    stops: readonly (() => Promise<unknown>)[];
  }) {
    this.members = parts.members;
    this.etcd = parts.etcd;
    this.host = parts.host;
    this.folder = parts.folder;
    this.#stops = parts.stops;
  }

  /** The superuser's connection string over HAProxy, for the database `postgres`. */
  get adminUrl(): string {
    return `postgres://postgres:${superuserPassword}@${this.host}/postgres`;
  }

  /** Resolves to the member on which a transaction commits. */
  primary(): Promise<Member> {
    return this.#eventually(() => this.#committing());
  }

  /** Resolves to a member other than `former` on which a transaction commits. */
  nextPrimary(former: Member): Promise<Member> {
    const others = this.members.filter((member) => member !== former);
    return this.#eventually(() => Promise.any(others.map(committing)));
  }

  /** Resolves when these members are standbys; by default all of them. */
  async untilStandbys(members = this.members): Promise<void> {
    await this.#eventually(() => Promise.all(members.map(requireStandby)));
  }

  /** Resolves to the standby for which commits wait. A member that has just returned may not know it yet. */
  synchronousStandby(): Promise<Member> {
    return this.#eventually(async () => {
      const { members } = await this.#state();
      const name = members.find(({ role }) => role === 'sync_standby')?.name;
      const member = this.members.find((each) => each.name === name);
      if (member === undefined) throw new Error('there is no synchronous standby');
      return member;
    });
  }

  /** Resolves when all members run, the primary sends its changes to both standbys, and commits wait for one of them. */
  async untilComplete(): Promise<void> {
    await this.#eventually(async () => {
      const { members } = await this.#state();
      const roles = members.map(({ role }) => role).sort();
      if (roles.join() !== 'leader,replica,sync_standby') throw new Error(JSON.stringify(members));
      const standbys = await ask(await this.#committing(), streamingStandbys);
      if (standbys.length < 2) throw new Error(`only ${JSON.stringify(standbys)} follow the primary`);
    });
  }

  /** Makes another member the primary, as an operator does. */
  async switchOver(): Promise<Member> {
    const former = await this.primary();
    const program = await findProgram('patronictl');
    const parameters = ['-c', former.configuration, 'switchover', 'shop', '--force'];
    await promisify(execFile)(...former.machine.command(program, parameters), {
      env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' },
    });
    return this.nextPrimary(former);
  }

  /** The end of each member's log. */
  async logs(): Promise<string> {
    const logs = this.members.map(
      async ({ name, log }) => `--- ${name}\n${(await readFile(log, 'utf8')).slice(-3_000)}`,
    );
    return (await Promise.all(logs)).join('\n');
  }

  async stop(): Promise<void> {
    for (const each of [...this.#stops].reverse()) await each();
  }

  /** Resolves to the member on which a transaction commits now. */
  #committing(): Promise<Member> {
    return Promise.any(this.members.map(committing));
  }

  /** Repeats the attempt until it succeeds. The error of the last attempt contains the end of the logs. */
  async #eventually<T>(attempt: () => Promise<T>): Promise<T> {
    try {
      return await eventually(attempt, startWithin);
    } catch (cause) {
      throw new Error(`${String(cause)}\n${await this.logs()}`, { cause });
    }
  }

  async #state(): Promise<{ members: readonly MemberState[] }> {
    return Promise.any(
      this.members.map(async ({ machine }) => {
        const signal = AbortSignal.timeout(2_000);
        const answer = await fetch(`http://${machine.address.shop}:${ports.api}/cluster`, { signal });
        return (await answer.json()) as { members: readonly MemberState[] };
      }),
    );
  }
}

interface MemberState {
  readonly name: string;
  readonly role: string;
}

const streamingStandbys = `
  SELECT application_name AS name FROM pg_stat_replication WHERE state = 'streaming' AND application_name LIKE 'database-%'`;

/** Resolves when a transaction has committed on this member. A commit waits for the synchronous standby. */
async function committing(member: Member): Promise<Member> {
  await ask(member, "SELECT pg_logical_emit_message(true, 'tests', 'commits')");
  return member;
}

async function requireStandby(member: Member): Promise<void> {
  const [row] = await ask<{ standby: boolean }>(member, 'SELECT pg_is_in_recovery() AS standby');
  if (row?.standby !== true) throw new Error(`${member.name} is a primary`);
}

async function ask<R extends pg.QueryResultRow>(member: Member, query: string): Promise<R[]> {
  const client = new pg.Client({
    connectionString: member.url,
    connectionTimeoutMillis: 1_000,
    query_timeout: 2_000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<R>(query)).rows;
  } finally {
    // The end of a connection to a suspended server is not awaited.
    client.end().catch(() => {});
  }
}

/**
 * Starts the cluster on these machines, and resolves when it is complete.
 * @throws Error that names a missing program
 */
export async function startPostgresCluster(machines: readonly Machine[]): Promise<PostgresCluster> {
  const programs = { patroni: await findProgram('patroni'), postgres: await findPostgres() };
  const folder = await mkdtemp(join(tmpdir(), 'shop-cluster-'));
  await chmod(folder, 0o711); // PostgreSQL runs as a user of its own
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const etcd = await startEtcd(folder, machines);
    stops.push(() => etcd.stop());
    await etcd.untilHealthy();
    const user = await chooseUser(undefined);
    const [proxyPort = 0] = await freePorts(1);
    const members = machines.map((machine) => new Member({ machine, folder, user, programs, etcdHosts: etcd.hosts }));
    stops.push(() => Promise.all(members.map((member) => member.kill())));
    for (const member of members) {
      await member.prepare();
      member.start();
    }
    stops.push(await startHaproxy(folder, proxyPort, members));
    const cluster = new PostgresCluster({ members, etcd, host: `127.0.0.1:${proxyPort}`, folder, stops });
    await cluster.untilComplete();
    return cluster;
  } catch (error) {
    for (const each of stops.reverse()) await each();
    throw error;
  }
}
