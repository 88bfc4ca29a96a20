// Reads on a streaming replica: their data is never older than permitted, and none fails while the replica is
// unavailable, hangs or lags.
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { openReadReplica, type Queryable, type ReadReplica } from '@shop/shared/database';
import { Problem } from '@shop/shared/problem';
import { eventually, type ReplicatedPostgres, startReplicatedPostgres } from '@shop/shared/testing';
import pg from 'pg';
import { pino } from 'pino';
import { startProxy, type TcpProxy } from '../events/tcp-proxy.ts';

const recovery = 30_000;
let postgres: ReplicatedPostgres;
let proxy: TcpProxy;
let primary: pg.Pool;
let reads: ReadReplica;
const lines: string[] = [];
const log = pino({}, { write: (line: string) => void lines.push(line) });

beforeAll(async () => {
  postgres = await startReplicatedPostgres();
  proxy = await startProxy(postgres.replicaUrl);
  primary = new pg.Pool({ connectionString: postgres.primaryUrl });
  primary.on('error', () => {});
  await primary.query('CREATE TABLE written (at double precision)');
});
afterAll(async () => {
  await primary.end();
  await proxy.close();
  await postgres.stop();
});

const open = (maximumLag: number, replicaUrl = proxy.url) => {
  lines.length = 0;
  reads = openReadReplica({ replicaUrl, primary, maximumLag, name: 'test', log });
};
afterEach(() => reads.close());

const onReplica = () =>
  reads.read(async (on) => {
    const { rows } = await on.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
    return rows[0]?.standby;
  });
const until = (expected: boolean) => eventually(async () => expect(await onReplica()).toBe(expected), recovery);

/** Reads continuously until `during` has ended. Every read must succeed. */
async function whileReading(during: () => Promise<void>): Promise<number> {
  let over = false;
  let count = 0;
  const reader = async (): Promise<void> => {
    for (; !over; count += 1) await onReplica();
  };
  const readers = Promise.all(Array.from({ length: 5 }, reader));
  try {
    await Promise.race([during(), readers]);
  } finally {
    over = true;
    await readers;
  }
  return count;
}

describe('a replica that is well', () => {
  it('a replica is read after its first successful check', async () => {
    open(2_000);
    expect(await onReplica()).toBe(false);
    await until(true);
    expect(lines.join()).toContain('the replica is read');
  });

  it('a replica is read on another connection when one has been busy for an hour', async () => {
    const timers = jest.spyOn(globalThis, 'setTimeout');
    open(60_000);
    await until(true);
    const who = async (on: Queryable) => {
      const text = 'SELECT pg_backend_pid() AS pid, pg_is_in_recovery() AS standby';
      return (await on.query<{ pid: number; standby: boolean }>(text)).rows[0];
    };
    const first = await reads.read(async (on) => {
      const found = await who(on);
      // Runs every timer of some minutes to one hour while the connection is in use.
      for (const [over, delay = 0] of timers.mock.calls) if (delay >= 60_000 && delay <= 3_600_000) over();
      return found;
    });
    timers.mockRestore();
    expect(first).toMatchObject({ standby: true });
    await until(true);
    const second = await reads.read(who);
    expect(second).toMatchObject({ standby: true });
    expect(second?.pid).not.toBe(first?.pid);
  });

  it('a Problem of a query on the replica is thrown without a second query on the primary', async () => {
    open(2_000);
    await until(true);
    let asked = 0;
    const connections = new Set<unknown>();
    for (const _ of [1, 2]) {
      const refused = reads.read(async (on) => {
        asked += 1;
        const { rows } = await on.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        connections.add(rows[0]?.pid);
        throw new Problem('query-too-costly', 'Ask for less.');
      });
      await expect(refused).rejects.toThrow('Ask for less.');
    }
    expect(asked).toBe(2);
    expect(connections.size).toBe(1);
  });

  it('a query that fails on the replica runs again on the primary', async () => {
    open(2_000);
    await until(true);
    const written = reads.read((on) => on.query('CREATE TABLE only_on_the_primary ()'));
    expect(await written).toMatchObject({ command: 'CREATE' });
    await until(true);
  });
});

describe('a replica that lags', () => {
  it('a replica that lags is not read beyond the permitted lag, and is read again when it has caught up', async () => {
    open(1_000);
    await until(true);
    const written: { at: number; known: number }[] = [];
    let over = false;
    const writer = (async () => {
      while (!over) {
        const at = performance.now();
        await primary.query('INSERT INTO written VALUES ($1)', [at]);
        written.push({ at, known: performance.now() });
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    const faults: string[] = [];
    let seenOnReplica = 0;
    const readOne = async (): Promise<boolean> => {
      const asked = performance.now();
      const { newest, standby } = await reads.read(async (on) => {
        const text = 'SELECT max(at) AS newest, pg_is_in_recovery() AS standby FROM written';
        return (
          (await on.query<{ newest: number | null; standby: boolean }>(text)).rows[0] ?? { newest: 0, standby: false }
        );
      });
      const due = written.findLast(({ known }) => known < asked - 1_000)?.at ?? 0;
      if ((newest ?? 0) < due) faults.push(`read ${newest} where ${due} was due`);
      if (standby) seenOnReplica += 1;
      return standby;
    };
    try {
      await eventually(async () => expect(await readOne()).toBe(true), recovery);
      await postgres.replay(false);
      await eventually(async () => expect(await readOne()).toBe(false), recovery);
      await postgres.replay(true);
      await eventually(async () => expect(await readOne()).toBe(true), recovery);
    } finally {
      await postgres.replay(true);
      over = true;
      await writer;
    }
    expect(faults).toEqual([]);
    expect(seenOnReplica).toBeGreaterThan(1);
    expect(lines.join()).toContain('it may be more than 1000 ms behind the primary');
  });
});

describe('an unavailable replica', () => {
  it('no read fails when the replica is killed, and it is read again after its restart', async () => {
    open(2_000);
    await until(true);
    const count = await whileReading(async () => {
      await postgres.killReplica();
      await until(false);
      await postgres.startReplica();
      await until(true);
    });
    expect(count).toBeGreaterThan(0);
    expect(lines.join()).toContain('the replica is not used');
  });

  it('no read fails when the replica hangs during a query', async () => {
    open(60_000);
    await until(true);
    await whileReading(async () => {
      proxy.freeze();
      await until(false);
      await proxy.restore();
      await until(true);
    });
  });
});

it('the pool does not read from a server that is not a replica', async () => {
  open(2_000, postgres.primaryUrl);
  await eventually(() => expect(lines.join()).toContain('it is no replica'));
  expect(await onReplica()).toBe(false);
});
