// A PostgreSQL with a streaming replica, for tests of reads on the replica.
import { execFile } from 'node:child_process';
import { appendFile, chmod, cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withClient } from '../../database/index.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../embedded/index.ts';

export interface ReplicatedPostgres {
  /** The connection strings of the superuser, for the database `postgres`. */
  readonly primaryUrl: string;
  readonly replicaUrl: string;
  /** Resumes or pauses the replay of the replica. */
  replay(follow: boolean): Promise<void>;
  /** Stops the replica like a crash. */
  killReplica(): Promise<void>;
  startReplica(): Promise<void>;
  /** Stops the primary and starts it again on the same port. */
  restartPrimary(): Promise<void>;
  /**
   * Stops the primary permanently and promotes the replica, which is then the only server. A killed replica is started
   * first, without the commits since then: they are lost, as with asynchronous replication. In this case the primary
   * stops like a crash, so that statements that wait for a lock do not get it first.
   */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a primary and a replica. The replica starts with a copy of the primary's files and then follows the primary.
 * This takes some seconds.
 */
export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'shop-replica-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  const [primaryFolder, replicaFolder] = [join(folder, 'primary'), join(folder, 'replica')];
  const stops: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const each of stops.reverse()) await each();
  };
  try {
    // The files are only consistent after the server has shut down.
    const first = await startEmbeddedPostgres({ dataDir: primaryFolder, durable: true });
    const { port } = first;
    await first.stop();
    await copyCluster(primaryFolder, replicaFolder, first.url);
    let primary = await startEmbeddedPostgres({ dataDir: primaryFolder, port, durable: true });
    stops.push(() => primary.stop());
    let replica = await startEmbeddedPostgres({ dataDir: replicaFolder, durable: false });
    stops.push(() => replica.stop());
    const startReplica = async (): Promise<void> => {
      replica = await startEmbeddedPostgres({ dataDir: replicaFolder, port: replica.port, durable: false });
    };
    let isReplicaKilled = false;
    return {
      primaryUrl: primary.url,
      replicaUrl: replica.url,
      replay: (follow) => setReplay(replica, follow ? 'resume' : 'pause'),
      async killReplica() {
        isReplicaKilled = true;
        await replica.stop();
      },
      async startReplica() {
        await startReplica();
        isReplicaKilled = false;
      },
      async restartPrimary() {
        await primary.stop();
        primary = await startEmbeddedPostgres({ dataDir: primaryFolder, port, durable: true });
      },
      async failOver() {
        if (isReplicaKilled) {
          const pid = Number.parseInt(await readFile(join(primaryFolder, 'cluster', 'postmaster.pid'), 'utf8'), 10);
          process.kill(pid, 'SIGQUIT');
          await primary.ended;
          await startReplica();
        } else await primary.stop();
        await withClient({ url: replica.url }, (client) => client.query('SELECT pg_promote()'));
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Copies the files of a stopped server, as the beginning of a replica. */
async function copyCluster(from: string, to: string, primaryUrl: string): Promise<void> {
  const cluster = await realpath(join(from, 'cluster'));
  await appendFile(join(cluster, 'pg_hba.conf'), 'host  replication  postgres  127.0.0.1/32  scram-sha-256\n');
  await mkdir(to, { mode: 0o711 });
  await cp(join(from, 'password'), join(to, 'password'));
  // `cp` preserves owners and modes, which Node's own copy does not.
  await promisify(execFile)('cp', ['-a', cluster, join(to, 'cluster')]);
  await writeFile(join(to, 'cluster', 'standby.signal'), '');
  const { hostname, port, username, password } = new URL(primaryUrl);
  const conninfo = `host=${hostname} port=${port} user=${username} password=${password}`;
  await appendFile(join(to, 'cluster', 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`);
}

async function setReplay({ url }: EmbeddedPostgres, to: 'resume' | 'pause'): Promise<void> {
  await withClient({ url }, (client) => client.query(`SELECT pg_wal_replay_${to}()`));
}
