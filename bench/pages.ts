// Pages kept in memory: a Zipf-distributed mix of different pages while products change, in comparison with a minimal
// server, with a service that keeps no pages, and through the gateway.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePorts } from '@shop/shared/embedded';
import pg from 'pg';
import { identity } from './collections/identity.ts';
import { load, type Measured } from './collections/load.ts';
import { leaveFirstCore, openStage, type Running, start } from './collections/stage.ts';
import { processorTime } from './orders/processor-time.ts';

/** `floor, first page` always requests the same page, and all others request the mix. */
type Variant = 'floor, first page' | 'floor' | 'reading' | 'keeping' | 'through, reading' | 'through, keeping';

interface Result extends Measured {
  /** Microseconds of processor time of the server for a request. */
  readonly cpu: number;
  /** The same of all processes but the load generator: PostgreSQL, and the service behind the gateway. */
  readonly all: number;
}

const warmUp = 500;
const connections = 16;

/** `npm run bench -- pages` */
export default async function run(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...options],
    options: {
      products: { type: 'string', default: '1000000' },
      pages: { type: 'string', default: '10000' },
      changes: { type: 'string', default: '50' },
      megabytes: { type: 'string', default: '64' },
      seconds: { type: 'string', default: '2' },
      rounds: { type: 'string', default: '10' },
    },
  });
  const stage = await openStage();
  const running = new Map<Variant, Running>();
  try {
    console.log(`Filling ${values.products} products …`);
    const urls = await stage.database('large', Number(values.products));
    const metrics = await startServers(running, urls, values.megabytes);
    const database = new pg.Client({ connectionString: urls.catalogue });
    await database.connect();
    const paths = await somePaths(database, Number(values.pages));
    await askForEach(running.get('keeping')?.port ?? 0, paths);
    const stopChanging = changeProducts(database, Number(values.changes));
    const results = await measureAll(running, zipf(paths), Number(values.rounds), Number(values.seconds));
    await stopChanging();
    await database.end();
    report(results, running);
    await reportPages(metrics);
  } finally {
    for (const server of new Set(running.values())) await server.stop();
    await stage.close();
  }
}

/** @returns the port of the metrics of the service that keeps pages */
async function startServers(
  running: Map<Variant, Running>,
  urls: { catalogue: string; events: string },
  megabytes: string,
) {
  const pinned = leaveFirstCore();
  console.log(pinned ? 'Each server has the first core, everything else the others.' : 'Cores are shared by all.');
  const [own, other] = pinned ? ['0', '1'] : [undefined, undefined];
  const [metrics = 0] = await freePorts(1);
  const environment = { ...identity, DATABASE_URL: urls.catalogue, EVENTS_URL: urls.events };
  const catalogue = 'services/catalogue/src/main.ts';
  const floor = await start('bench/collections/floor-server.ts', { DATABASE_URL: urls.catalogue }, own);
  running.set('floor, first page', floor).set('floor', floor);
  const reading = await start(catalogue, environment, own);
  const keeping = await start(
    catalogue,
    { ...environment, PAGE_CACHE_MB: megabytes, METRICS_PORT: String(metrics) },
    own,
  );
  running.set('reading', reading).set('keeping', keeping);
  for (const [variant, { port }] of [['through, reading', reading] as const, ['through, keeping', keeping] as const]) {
    const upstream = { ...identity, CATALOGUE_URL: `http://127.0.0.1:${port}` };
    running.set(variant, await start('gateway/src/main.ts', upstream, other));
  }
  return metrics;
}

const sorts = [
  '',
  'sort=price:asc',
  'sort=price:desc',
  'sort=name:asc',
  'sort=rating:desc,price:asc',
  'sort=createdAt:asc',
];

/** Returns pages as customers request them: by brand, category, price range and rating, in different sort orders. */
async function somePaths(database: pg.Client, count: number): Promise<string[]> {
  const { rows } = await database.query<{ brand: string; category: string }>(
    'SELECT DISTINCT brand, category FROM products TABLESAMPLE BERNOULLI (1) ORDER BY brand, category',
  );
  const brandOf = ({ brand }: { brand: string }) => `brand=${encodeURIComponent(brand)}`;
  const categoryOf = ({ category }: { category: string }) => `category=${encodeURIComponent(category)}`;
  const both = rows.map((row) => `${brandOf(row)}&${categoryOf(row)}`);
  const filters = ['', ...new Set([...rows.map(brandOf), ...rows.map(categoryOf), ...both])];
  const ranges = ['', 'price=lt:20', 'price=gte:20,lt:50', 'price=gte:50,lt:100', 'price=gte:100'];
  const limits = ['', 'limit=10', 'limit=50'];
  const paths = new Set<string>();
  for (let index = 0; paths.size < count && index < 50 * count; index += 1) {
    const part = (list: readonly string[], step: number) => list[Math.floor(index / step) % list.length] ?? '';
    const parts = [
      part(sorts, 1),
      part(ranges, sorts.length),
      part(filters, sorts.length * ranges.length),
      part(limits, 7),
    ];
    paths.add(`/v1/products?${parts.filter((text) => text !== '').join('&')}`);
  }
  // Pages of all kinds are among the most requested ones.
  return [...paths].sort((one, other) => order(one) - order(other));
}

function order(text: string): number {
  return [...text].reduce((hash, character) => (hash * 31 + character.charCodeAt(0)) % 1_000_003, 7);
}

/**
 * Requests each page once per round, so that a page is read again only after a change, or after it was dropped to free
 * memory.
 */
async function askForEach(port: number, paths: readonly string[]): Promise<void> {
  let asked = 0;
  const next = (): string => {
    asked += 1;
    return `GET ${paths[asked % paths.length]} HTTP/1.1\r\nHost: bench\r\n${acceptsGzip}\r\n`;
  };
  while (asked < paths.length) await load({ port, next, milliseconds: 1_000, connections });
}

/** Selects paths by Zipf's law with the exponent 1: the second path is requested half as often as the first. */
function zipf(paths: readonly string[]): () => string {
  const sums: number[] = [];
  for (const index of paths.keys()) sums.push((sums.at(-1) ?? 0) + 1 / (index + 1));
  const total = sums.at(-1) ?? 1;
  return () => {
    const wanted = Math.random() * total;
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return paths[low] ?? '/v1/products';
  };
}

const change = 'UPDATE products SET price_minor = price_minor + 1 - 2 * (price_minor % 2) WHERE id = $1';

/**
 * Changes this many products a second, in a way that clients can see.
 * @returns a function that stops the changes
 */
function changeProducts(database: pg.Client, perSecond: number): () => Promise<void> {
  let isChanging = perSecond > 0;
  const work = async (): Promise<void> => {
    const { rows } = await database.query<{ id: string }>('SELECT id FROM products TABLESAMPLE BERNOULLI (1)');
    while (isChanging) {
      const began = performance.now();
      await database.query(change, [rows[Math.floor(Math.random() * rows.length)]?.id]);
      await sleep(Math.max(0, 1000 / perSecond - (performance.now() - began)));
    }
  };
  const changing = work();
  return async () => {
    isChanging = false;
    await changing;
  };
}

/** Browsers send this header field. The minimal server does not compress, whatever it says. */
const acceptsGzip = 'Accept-Encoding: gzip, deflate, br\r\n';
const firstPage = Buffer.from(`GET /0 HTTP/1.1\r\nHost: bench\r\n${acceptsGzip}\r\n`);

/**
 * Prepares the requests in advance, in one buffer, so that sending them costs little processor time. Each has another
 * client address, because the gateway limits requests for each address.
 * @returns a function that returns one request after the other
 */
function someRequests(path: () => string): () => Buffer {
  const texts = Array.from({ length: 500_000 }, (_, index) => {
    const client = `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
    return `GET ${path()} HTTP/1.1\r\nHost: bench\r\n${acceptsGzip}X-Forwarded-For: ${client}\r\n\r\n`;
  });
  const bytes = Buffer.from(texts.join(''), 'latin1');
  const lengths = Uint16Array.from(texts, (text) => text.length);
  let [index, from] = [0, 0];
  return () => {
    if (index === lengths.length) [index, from] = [0, 0];
    const until = from + (lengths[index] ?? 0);
    const request = bytes.subarray(from, until);
    [index, from] = [index + 1, until];
    return request;
  };
}

async function measureAll(
  running: ReadonlyMap<Variant, Running>,
  path: () => string,
  rounds: number,
  seconds: number,
): Promise<ReadonlyMap<Variant, Result[]>> {
  const results = new Map<Variant, Result[]>([...running.keys()].map((variant) => [variant, []]));
  const nextRequest = someRequests(path);
  for (let round = 0; round < rounds; round += 1) {
    for (const [variant, server] of running) {
      const next = variant === 'floor, first page' ? () => firstPage : nextRequest;
      const ask = (milliseconds: number) => load({ port: server.port, next, milliseconds, connections });
      await ask(warmUp);
      const before = { cpu: server.cpu() * 1e6, all: processorTime(process.pid) * 1e3 };
      const measured = await ask(seconds * 1_000);
      const cpu = (server.cpu() * 1e6 - before.cpu) / measured.requests;
      const all = (processorTime(process.pid) * 1e3 - before.all) / measured.requests;
      results.get(variant)?.push({ ...measured, cpu, all });
    }
  }
  return results;
}

function report(results: ReadonlyMap<Variant, readonly Result[]>, running: ReadonlyMap<Variant, Running>): void {
  const of = (variant: Variant, member: keyof Result) =>
    median((results.get(variant) ?? []).map((each) => each[member]));
  console.log('                       req/s   p50 ms   p99 ms   CPU µs  with PostgreSQL');
  for (const variant of results.keys()) {
    const cells = [of(variant, 'rate').toFixed(0), of(variant, 'p50').toFixed(2), of(variant, 'p99').toFixed(2)];
    cells.push(of(variant, 'cpu').toFixed(0), of(variant, 'all').toFixed(0));
    console.log(variant.padEnd(19), ...cells.map((cell) => cell.padStart(8)));
  }
  const ratio = (one: Variant, other: Variant) =>
    median((results.get(one) ?? []).map(({ rate }, round) => rate / (results.get(other)?.[round]?.rate ?? Number.NaN)));
  const lines: readonly [Variant, Variant, number | undefined][] = [
    ['keeping', 'floor, first page', undefined],
    ['keeping', 'floor', 4],
    ['through, keeping', 'through, reading', 2.5],
  ];
  for (const [one, other, target] of lines) {
    const measured = ratio(one, other);
    const time = (of(other, 'all') / of(one, 'all')).toFixed(2);
    const verdict = target === undefined ? '      ' : measured >= target ? 'holds ' : 'MISSED';
    const aim = target === undefined ? '' : ` (target ${target})`;
    console.log(
      `${verdict} ${one} to ${other}: ${measured.toFixed(2)}${aim}, by processor time with PostgreSQL ${time}`,
    );
  }
  const memory = running.get('keeping')?.memory();
  console.log(
    `memory of the service that keeps pages: ${memory?.now} MiB, at most ${memory?.peak} (target: under 250)`,
  );
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Prints the metrics of cached pages, as the service exports them. */
async function reportPages(port: number): Promise<void> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const value = (name: string, label = '') =>
    text
      .split('\n')
      .filter((line) => line.startsWith(name) && line.includes(label))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  const kept = value('shop_pages_requests', '"kept"');
  const read = value('shop_pages_requests', '"read"');
  const dropped = value('shop_pages_age_count', '"change"');
  const changes = value('shop_pages_changes');
  console.log(
    `kept pages answered ${((100 * kept) / (kept + read)).toFixed(1)} % of ${kept + read} requests; ` +
      `${changes} changes dropped ${(dropped / changes).toFixed(2)} pages each; ` +
      `${value('shop_pages_kept')} pages in ${(value('shop_pages_memory') / 2 ** 20).toFixed(1)} MiB at the end`,
  );
}
