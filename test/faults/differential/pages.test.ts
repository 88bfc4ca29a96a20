// Cached pages under faults: two processes of the catalogue use one database, and one of them caches pages in memory.
// Random readers and writers run while the connection for changes is closed or hangs, and while PostgreSQL restarts or
// fails over. After each fault, both processes return the same pages.
//
// DIFFERENTIAL_ROUNDS is the number of rounds, and DIFFERENTIAL_WRITES and DIFFERENTIAL_READERS set the load of each
// round.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  eventually,
  type ReplicatedPostgres,
  slowness,
  startReplicatedPostgres,
  startServices,
  type TestService,
  type TestServices,
} from '@shop/shared/testing';
import {
  nextPage,
  type OtherProcess,
  type PageRequest,
  readPage,
  someRequests,
  someWrites,
  startWithoutPages,
  writeProduct,
} from '../../../services/catalogue/test/page-differential.ts';
import { type SwitchableProxy, startSwitchableProxy } from './switchable-proxy.ts';

const rounds = Number(process.env.DIFFERENTIAL_ROUNDS ?? 1);
const writesOfFault = Number(process.env.DIFFERENTIAL_WRITES ?? 300);
const readers = Number(process.env.DIFFERENTIAL_READERS ?? 4);
/**
 * Milliseconds for which the connection for changes hangs, and milliseconds after a commit within which every page
 * shows it.
 */
const [hangs, bound] = [2_500, 50];

let postgres: ReplicatedPostgres;
let proxy: SwitchableProxy;
let services: TestServices;
let catalogue: TestService;
let other: OtherProcess;
const ids: string[] = [];

beforeAll(async () => {
  postgres = await startReplicatedPostgres();
  const primary = new URL(postgres.primaryUrl);
  proxy = await startSwitchableProxy(Number(primary.port));
  process.env.SHOP_TEST_ADMIN_URL = Object.assign(primary, { port: String(proxy.port) }).href;
  services = await startServices(['catalogue'], { environment: { PAGE_CACHE_MB: '4', DATABASE_READ_LAG_MS: '1000' } });
  catalogue = services.service('catalogue');
  other = await startWithoutPages(services);
  for (const write of someWrites(200, 7)) await writeProduct(catalogue.database, ids, { ...write, kind: 'add' });
});
afterAll(async () => {
  await other.stop();
  await services.stop();
  await proxy.close();
  await postgres.stop();
});

/** The server process of the connection for changes. */
async function backend(): Promise<number> {
  const { rows } = await catalogue.database.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'catalogue-pages' AND datname = current_database()",
  );
  return rows[0]?.pid ?? 0;
}

const faults: readonly [string, () => Promise<void>][] = [
  ['nothing fails', async () => {}],
  [
    'the connection for changes is cut',
    async () => {
      await catalogue.database.query('SELECT pg_terminate_backend($1)', [await backend()]);
    },
  ],
  [
    'the connection for changes hangs',
    async () => {
      const pid = await backend();
      if (pid === 0) throw new Error('there is no connection for changes');
      process.kill(pid, 'SIGSTOP');
      await sleep(hangs);
      process.kill(pid, 'SIGCONT');
    },
  ],
  ['PostgreSQL restarts', () => postgres.restartPrimary()],
];

let [reads, attempts, writes, compared] = [0, 0, 0, 0];

/** Reads until `isOver`. While the database is unavailable, an answer may be 503. */
async function keepReading(requests: readonly PageRequest[], reader: number, isOver: () => boolean): Promise<void> {
  for (let turn = reader; !isOver(); turn += 1) {
    const request = requests[(turn * 7) % requests.length];
    if (request === undefined) return;
    await readPage(catalogue.url, request).catch((error: Error) => {
      if (!error.message.includes(' answered 503 ')) throw error;
    });
    reads += 1;
  }
}

async function keepWriting(seed: number): Promise<void> {
  for (const write of someWrites(writesOfFault, seed)) {
    // A write that fails may still have been committed. Both processes then show it.
    attempts += 1;
    await writeProduct(catalogue.database, ids, write).then(
      () => {
        writes += 1;
      },
      () => sleep(20),
    );
  }
}

async function compare(requests: readonly PageRequest[]): Promise<PageRequest[]> {
  const next: PageRequest[] = [];
  for (const request of requests) {
    const [kept, read] = await Promise.all([readPage(catalogue.url, request), readPage(other.url, request)]);
    expect({ request, page: kept }).toEqual({ request, page: read });
    compared += 1;
    const behind = nextPage(request, kept);
    if (behind !== undefined) next.push(behind);
  }
  return next;
}

const bothAnswer = () =>
  eventually(async () => {
    for (const url of [catalogue.url, other.url]) expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  }, 60_000);

async function underFault(requests: readonly PageRequest[], seed: number, fault: () => Promise<void>) {
  let isOver = false;
  const reading = Array.from({ length: readers }, (_, reader) => keepReading(requests, reader, () => isOver));
  await Promise.all([keepWriting(seed), sleep(300).then(fault)]).finally(() => {
    isOver = true;
  });
  await Promise.all(reading);
  await bothAnswer();
  // A connection that hung was replaced, or has delivered the waiting notifications.
  await sleep(bound * slowness() + 1_000);
  return compare(requests);
}

const base = someRequests(200, 11);

it.each(faults)(
  'the catalogue gives the same pages when %s',
  async (name, fault) => {
    let requests = base;
    for (let round = 0; round < rounds; round += 1) {
      const seed = 1_000 * round + name.length;
      const next = await underFault(requests, seed, fault);
      requests = [...base, ...next.slice(0, 200)];
    }
  },
  36_000_000,
);

it('the catalogue gives the same pages after a failover to the replica', async () => {
  await underFault(base, 5, async () => {
    await postgres.failOver();
    proxy.switchTo(Number(new URL(postgres.replicaUrl).port));
  });
  console.log(`${reads} reads, ${writes} writes of ${attempts}, ${compared} pages compared`);
  // Only those fail that a restart or the failover interrupts.
  expect(writes).toBeGreaterThan(attempts / 2);
}, 36_000_000);
