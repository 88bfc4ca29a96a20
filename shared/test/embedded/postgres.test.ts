// The embedded server: its data is kept, a folder has one user at a time, no server outlives its process, and a failed
// start prints one line.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { initialise } from '../../src/embedded/cluster.ts';
import { freePorts, startEmbeddedPostgres } from '../../src/embedded/index.ts';
import { stopOrphan } from '../../src/embedded/orphan.ts';
import { bareContext, chooseUser } from '../../src/embedded/run-as.ts';
import { eventually } from '../../src/testing/eventually.ts';

let folder: string;
const dataDir = (): string => join(folder, 'data');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-embedded-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function ask(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // a server that stops: the query fails by itself
  await client.connect();
  try {
    return (await client.query({ text, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end();
  }
}

const postmasterId = async (): Promise<number> =>
  Number((await readFile(join(dataDir(), 'cluster', 'postmaster.pid'), 'utf8')).split('\n')[0]);

/** Starts another process that only runs the server. Resolves with the server's URL. */
async function startElsewhere(): Promise<{ url: string; kill(): Promise<void> }> {
  const script = fileURLToPath(new URL('./keep-running.ts', import.meta.url));
  const child = spawn(process.execPath, [script, dataDir()], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [url] = await once(child.stdout, 'data');
  const kill = async (): Promise<void> => {
    const closed = once(child, 'exit');
    child.kill('SIGKILL');
    await closed;
  };
  return { url: String(url).trim(), kill };
}

describe('the embedded PostgreSQL', () => {
  it('the embedded PostgreSQL begins anew where a first start was interrupted', async () => {
    await mkdir(join(dataDir(), 'cluster.partial', 'left over'), { recursive: true });
    await (await startEmbeddedPostgres({ dataDir: dataDir(), durable: true })).stop();
    expect((await readdir(dataDir())).sort()).toEqual(['cluster', 'password', 'postgres.log']);
  });

  it('the embedded PostgreSQL starts immediately after the process of a first start was killed during the initialization', async () => {
    const path = join(folder, 'killed');
    const script = fileURLToPath(new URL('./keep-running.ts', import.meta.url));
    const child = spawn(process.execPath, [script, path], { stdio: 'ignore' });
    await eventually(async () => {
      const names = await readdir(path, { recursive: true });
      expect(names).toContainEqual(expect.stringMatching(/^cluster\.partial.*\/base\/1$/));
    }, 15_000);
    const closed = once(child, 'exit');
    child.kill('SIGKILL');
    await closed;
    const server = await startEmbeddedPostgres({ dataDir: path, durable: true });
    try {
      expect(await ask(server.url, 'SELECT 1')).toEqual([1]);
      expect((await readdir(path)).sort()).toEqual(['cluster', 'lock', 'password', 'postgres.log']);
    } finally {
      await server.stop();
    }
  });

  it('the embedded PostgreSQL reports in one line why the data cannot be created', async () => {
    const path = join(folder, 'refused');
    await mkdir(path);
    const programs = join(folder, 'programs');
    await mkdir(programs);
    const output = [
      'performing bootstrap initialization ...',
      '2026-11-21 20:00:00.000 UTC [7] FATAL:  no room',
      'child failed',
    ];
    await writeFile(
      join(programs, 'initdb'),
      `#!/bin/sh\nprintf '%s\\n' ${output.map((line) => `'${line}'`).join(' ')} >&2\nexit 1\n`,
      { mode: 0o755 },
    );
    const make = initialise({ dataDir: path, link: join(path, 'cluster'), programs, user: {}, password: 'x' });
    await expect(make).rejects.toThrow(/^cannot initialise the database in .*\/cluster: no room$/);
    expect(await readdir(path)).toEqual([]);
  });

  it('the embedded PostgreSQL keeps its data and password between starts', async () => {
    const first = await startEmbeddedPostgres({ dataDir: dataDir(), durable: true });
    await ask(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();
    const second = await startEmbeddedPostgres({ dataDir: dataDir(), durable: true });
    try {
      expect(await ask(second.url, 'SELECT answer FROM kept')).toEqual([42]);
      expect(new URL(second.url).password).toBe(new URL(first.url).password);
    } finally {
      await second.stop();
    }
  });

  it('the embedded PostgreSQL is UTF-8, byte-wise, in UTC, durable, and listens on the loopback interface only', async () => {
    const server = await startEmbeddedPostgres({ dataDir: dataDir(), durable: true });
    try {
      const settings = [
        'server_encoding',
        'timezone',
        'listen_addresses',
        'unix_socket_directories',
        'fsync',
        'io_method',
      ];
      const values = await ask(server.url, `SELECT ${settings.map((name) => `current_setting('${name}')`).join(', ')}`);
      expect(values).toEqual(['UTF8', 'UTC', '127.0.0.1', '', 'on', 'sync']);
      expect(await ask(server.url, `SELECT array_agg(t ORDER BY t) FROM unnest('{a,B,ä,b}'::text[]) t`)).toEqual([
        ['B', 'a', 'b', 'ä'],
      ]);
    } finally {
      await server.stop();
    }
  });

  it('only the owner can read password and log of the embedded PostgreSQL, and every connection needs a password', async () => {
    const server = await startEmbeddedPostgres({ dataDir: dataDir(), durable: true });
    try {
      for (const name of ['password', 'postgres.log']) {
        expect((await stat(join(dataDir(), name))).mode & 0o777).toBe(0o600);
      }
      const wrong = Object.assign(new URL(server.url), { password: 'wrong' }).href;
      await expect(ask(wrong, 'SELECT 1')).rejects.toThrow('password authentication failed');
    } finally {
      await server.stop();
    }
  });

  it('the embedded PostgreSQL rejects a second start on the same folder while the first runs', async () => {
    const server = await startEmbeddedPostgres({ dataDir: dataDir(), durable: true });
    try {
      await expect(startEmbeddedPostgres({ dataDir: dataDir(), durable: true })).rejects.toThrow(
        `${dataDir()} is in use by process ${process.pid}`,
      );
      expect(await ask(server.url, 'SELECT 1')).toEqual([1]);
    } finally {
      await server.stop();
    }
  });

  it('the embedded PostgreSQL stops by itself after the process that started it was killed during the start', async () => {
    const script = fileURLToPath(new URL('./keep-running.ts', import.meta.url));
    const child = spawn(process.execPath, [script, dataDir()], { stdio: 'ignore' });
    const processFile = join(dataDir(), 'cluster', 'postmaster.pid');
    while (!existsSync(processFile)) await sleep(1);
    child.kill('SIGKILL');
    await eventually(() => expect(existsSync(processFile)).toBe(false), 15_000);
  });

  it('the embedded PostgreSQL takes over immediately from a process that was killed', async () => {
    const other = await startElsewhere();
    await ask(other.url, `CREATE TABLE before_the_kill AS SELECT 'x' AS mark`);
    await other.kill();
    const server = await startEmbeddedPostgres({ dataDir: dataDir(), durable: true });
    try {
      expect(await ask(server.url, 'SELECT mark FROM before_the_kill')).toEqual(['x']);
      await expect(ask(other.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
    } finally {
      await server.stop();
    }
  });

  it('the embedded PostgreSQL stops by itself after the process that started it was killed', async () => {
    const other = await startElsewhere();
    await other.kill();
    // The server refuses connections as soon as it begins to stop.
    await eventually(async () => {
      await expect(ask(other.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
      expect(await readFile(join(dataDir(), 'postgres.log'), 'utf8')).toMatch(/database system is shut down\n$/);
    }, 15_000);
  });

  it('the embedded PostgreSQL starts although a process file names another process by now', async () => {
    // A process of the same user, because PostgreSQL takes no notice of those of other users.
    const other = spawn('sleep', ['60'], bareContext(await chooseUser(undefined)));
    try {
      await writeFile(join(dataDir(), 'cluster', 'postmaster.pid'), `${other.pid}\n`);
      const server = await startEmbeddedPostgres({ dataDir: dataDir(), durable: true });
      await server.stop();
    } finally {
      other.kill('SIGKILL');
    }
  });

  it('the embedded PostgreSQL leaves the process file to PostgreSQL, and finds the id that another program has by now', async () => {
    const file = join(dataDir(), 'cluster', 'postmaster.pid');
    const ended = spawn('true');
    await once(ended, 'exit');
    for (const [id, found] of [
      [process.pid, process.pid],
      [ended.pid, undefined],
    ] as const) {
      await writeFile(file, `${id}\n`);
      expect([await stopOrphan(join(dataDir(), 'cluster')), await readFile(file, 'utf8')]).toEqual([found, `${id}\n`]);
    }
    await rm(file);
  });

  it('the embedded PostgreSQL does not start beside a process of a previous server that still uses the data', async () => {
    const server = await startEmbeddedPostgres({ dataDir: dataDir(), durable: true });
    const client = new pg.Client({ connectionString: server.url });
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const backend = rows[0]?.pid ?? 0;
    process.kill(backend, 'SIGSTOP');
    try {
      process.kill(await postmasterId(), 'SIGKILL');
      await server.ended;
      await expect(startEmbeddedPostgres({ dataDir: dataDir(), durable: true })).rejects.toThrow(
        /^PostgreSQL does not start: pre-existing shared memory block .* is still in use$/,
      );
    } finally {
      process.kill(backend, 'SIGKILL');
      await client.end();
    }
    await eventually(async () => (await startEmbeddedPostgres({ dataDir: dataDir(), durable: true })).stop());
  });

  it('the embedded PostgreSQL is stopped although it hangs, when the caller requests this', async () => {
    const server = await startEmbeddedPostgres({ dataDir: dataDir(), durable: true });
    process.kill(await postmasterId(), 'SIGSTOP');
    await server.stop(true);
    await (await startEmbeddedPostgres({ dataDir: dataDir(), durable: true })).stop();
  });

  it('the embedded PostgreSQL does not create data that must exist', async () => {
    const path = join(folder, 'deleted');
    const start = () => startEmbeddedPostgres({ dataDir: path, durable: true, mustExist: true });
    await expect(start()).rejects.toThrow(`${path} is gone`);
    await mkdir(join(path, 'cluster'), { recursive: true });
    await expect(start()).rejects.toThrow(`${join(path, 'cluster/PG_VERSION')} is gone`);
    expect(await readdir(path, { recursive: true })).toEqual(['cluster']);
  });

  it('the embedded PostgreSQL reports that it has ended unexpectedly', async () => {
    const server = await startEmbeddedPostgres({ dataDir: dataDir(), durable: true });
    process.kill(await postmasterId(), 'SIGINT');
    await server.ended;
    await server.stop();
  });

  it('the embedded PostgreSQL reports in one line that the port is taken', async () => {
    const [port = 0] = await freePorts(1);
    const taken = createServer().listen(port, '127.0.0.1');
    await once(taken, 'listening');
    try {
      await expect(startEmbeddedPostgres({ dataDir: dataDir(), port, durable: true })).rejects.toThrow(
        /^PostgreSQL does not start: could not bind .*Address already in use$/,
      );
    } finally {
      taken.close();
    }
    // The refused start has released the folder.
    await (await startEmbeddedPostgres({ dataDir: dataDir(), durable: true })).stop();
  });

  it.each(['file/below', 'file'])(
    'the embedded PostgreSQL reports in one line that it cannot write to %s',
    async (name) => {
      await writeFile(join(folder, 'file'), '');
      const path = join(folder, name);
      await expect(startEmbeddedPostgres({ dataDir: path, durable: true })).rejects.toThrow(
        new RegExp(`^cannot write to the data folder ${path} \\(\\w+\\)$`),
      );
    },
  );

  it('the embedded PostgreSQL reports in one line that its password is missing', async () => {
    await rm(join(dataDir(), 'password'));
    await expect(startEmbeddedPostgres({ dataDir: dataDir(), durable: true })).rejects.toThrow(
      /^cannot read the database's password in .* \(ENOENT\)$/,
    );
  });
});
