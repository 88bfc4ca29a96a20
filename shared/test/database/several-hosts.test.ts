// Connection strings with several hosts lead to the server that accepts writes, and never to a former primary.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectDatabase, type Database, isDatabaseUnavailable, withClient } from '@shop/shared/database';
import { createLog } from '@shop/shared/runtime';
import { eventually, type ReplicatedPostgres, slowness, startReplicatedPostgres } from '@shop/shared/testing';

let postgres: ReplicatedPostgres;
let silent: Server;
const sockets: Socket[] = [];

beforeAll(async () => {
  postgres = await startReplicatedPostgres();
  silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  silent.close();
  await postgres.stop();
});

/** The connection string of the superuser for these hosts. */
function listOf(...hosts: readonly string[]): string {
  const { host } = new URL(postgres.primaryUrl);
  return `${postgres.primaryUrl.replace(host, hosts.join())}?target_session_attrs=read-write`;
}
const hostOf = (url: string): string => new URL(url).host;
const silentHost = (): string => `127.0.0.1:${(silent.address() as AddressInfo).port}`;

/** Returns the port of the server to which a new connection of the list leads. */
async function portOf(list: string): Promise<number | undefined> {
  const { rows } = await withClient({ url: list }, (client) =>
    client.query<{ port: string }>("SELECT current_setting('port') AS port"),
  );
  return Number(rows[0]?.port);
}
const portIn = (url: string): number => Number(new URL(url).port);

describe('before a failover', () => {
  it('the client connects to the primary, wherever it is in the list', async () => {
    const [primary, standby] = [hostOf(postgres.primaryUrl), hostOf(postgres.replicaUrl)];
    expect(await portOf(listOf(primary, standby))).toBe(portIn(postgres.primaryUrl));
    expect(await portOf(listOf(standby, primary))).toBe(portIn(postgres.primaryUrl));
  });

  it('the client connects to the primary while other servers of the list reject connections or hang', async () => {
    const began = performance.now();
    const list = listOf('127.0.0.1:1', silentHost(), hostOf(postgres.primaryUrl));
    expect(await portOf(list)).toBe(portIn(postgres.primaryUrl));
    expect(performance.now() - began).toBeLessThan(900 * slowness());
  });

  it('the error without a writable server in the list counts as an unavailable database', async () => {
    const list = listOf('127.0.0.1:1', hostOf(postgres.replicaUrl));
    const error = await portOf(list).catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(/127\.0\.0\.1:1: .*ECONNREFUSED.*; 127\.0\.0\.1:\d+: is read-only$/);
    expect(isDatabaseUnavailable(error)).toBe(true);
  });
});

describe('after a failover', () => {
  let list: string;
  let database: Database;

  beforeAll(() => {
    list = listOf(hostOf(postgres.primaryUrl), hostOf(postgres.replicaUrl));
    database = connectDatabase({ url: list, name: 'test', log: createLog('test', 'silent') });
  });
  afterAll(() => database.close());

  /** Whether the server accepts new connections. The open ones stay. */
  async function acceptConnections(url: string, accepts: boolean): Promise<void> {
    await withClient({ url: url.replace(/postgres$/, 'template1') }, (client) =>
      client.query(`ALTER DATABASE postgres ALLOW_CONNECTIONS ${accepts}`),
    );
  }

  it('the client leaves a previous primary that still accepts writes', async () => {
    const port = "SELECT current_setting('port')::int AS port";
    const { primaryUrl: former, replicaUrl: next } = postgres;
    // Two idle connections to the first primary.
    await Promise.all([database.pool.query('SELECT pg_sleep(0.2)'), database.pool.query('SELECT pg_sleep(0.2)')]);
    await withClient({ url: next }, (client) => client.query('SELECT pg_promote()'));
    await acceptConnections(former, false);
    await eventually(async () => expect(await portOf(list)).toBe(portIn(next)), 10_000);
    await acceptConnections(former, true);
    expect(await portOf(former)).toBe(portIn(former));
    // Only the former primary accepts connections for a while.
    await acceptConnections(next, false);
    await expect(portOf(list)).rejects.toThrow('not currently accepting connections');
    await expect(portOf(list)).rejects.toThrow('is a former primary');
    await acceptConnections(next, true);
    for (let time = 0; time < 10; time += 1) {
      const answers = await Promise.all([database.pool.query(port), database.pool.query(port)]);
      expect(answers.map(({ rows }) => rows)).toEqual(answers.map(() => [{ port: portIn(next) }]));
      expect(await portOf(list)).toBe(portIn(next));
    }
  });
});
