// Measures the search: how many queries of a file have an expected product among their first five results, and how long
// the first page takes, without and with facets.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { newId } from '@shop/shared/runtime';
import pg from 'pg';
import { identity } from './collections/identity.ts';
import { leaveFirstCore, openStage, type Running, start } from './collections/stage.ts';
import { processorTime } from './search/processor-time.ts';

/**
 * The required share of queries that find the expected product, and the maximum 99th percentile in milliseconds of the
 * first page, without and with facets.
 */
const targets = { recall: 0.9, p99: 25, facets: 50 };
const shown = 5;

/** `npm run bench -- search [--products 1000000] [--rounds 5]` */
export default async function search(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...options],
    options: { products: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '5' } },
  });
  const stage = await openStage();
  try {
    console.log(`Filling ${values.products} products …`);
    const urls = await stage.database('search', Number(values.products));
    await addForeignProducts(urls.catalogue);
    const core = leaveFirstCore() ? '0' : undefined;
    const environment = { ...identity, DATABASE_URL: urls.catalogue, EVENTS_URL: urls.events };
    const service = await start('services/catalogue/src/main.ts', environment, core);
    try {
      await measure(urls.catalogue, service, Number(values.rounds));
    } finally {
      await service.stop();
    }
  } finally {
    await stage.close();
  }
}

function linesOf(file: string): string[][] {
  const text = readFileSync(new URL(`./search/${file}`, import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'));
}

/** Adds the products in other languages and alphabets. */
async function addForeignProducts(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const [name, brand, category, description] of linesOf('products.tsv').slice(1)) {
    await client.query(
      `INSERT INTO products (id, name, brand, category, description, price_minor, status, stock)
       VALUES ($1, $2, $3, $4, $5, 1990, 'available', 1)`,
      [newId(), name, brand, category, description],
    );
  }
  await client.query('VACUUM (ANALYZE) products, product_search, search_words');
  await client.end();
}

interface Found {
  readonly items: readonly { readonly name: string; readonly brand: string; readonly category: string }[];
}

interface Time {
  readonly path: string;
  /** Milliseconds until the response was there. */
  readonly took: number;
  /** Milliseconds of processor time that the service and PostgreSQL used. */
  readonly worked: number;
}

async function measure(database: string, service: Running, rounds: number): Promise<void> {
  const queries = linesOf('queries.tsv').map(([text = '', expected = '']) => ({ text, words: expected.split(' ') }));
  await reportRecall(service, queries);
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  const searches = queries.map(({ text }) => searchFor(text));
  reportTimes('first page', await timesOf(client, service, searches, rounds), targets.p99);
  const { rows } = await client.query<{ brand: string; category: string }>(
    'SELECT DISTINCT brand, category FROM products ORDER BY brand, category LIMIT 200',
  );
  const lists = rows.map((row) => `/v1/products?${new URLSearchParams({ ...row })}`);
  const counted: string[] = [];
  for (const path of [...searches, ...lists].map((each) => `${each}&facets=brand,category,price`)) {
    const { status } = await fetch(`http://127.0.0.1:${service.port}${path}`);
    if (status === 200) counted.push(path);
  }
  console.log(`facets: ${counted.length} of ${searches.length + lists.length} results are small enough to be counted`);
  reportTimes('first page with facets', await timesOf(client, service, counted, rounds), targets.facets);
  await client.end();
}

const searchFor = (text: string): string => `/v1/products?q=${encodeURIComponent(text)}`;

async function reportRecall({ port }: Running, queries: readonly { text: string; words: string[] }[]): Promise<void> {
  const missed: string[] = [];
  for (const { text, words } of queries) {
    const response = await fetch(`http://127.0.0.1:${port}${searchFor(text)}`);
    const { items } = (await response.json()) as Found;
    if (!items.slice(0, shown).some((item) => has(item, words))) missed.push(text);
  }
  const recall = 1 - missed.length / queries.length;
  console.log(`${queries.length} queries; missed: ${missed.join(', ') || 'none'}`);
  console.log(
    `recall among the first ${shown}: ${recall.toFixed(3)} (target ${targets.recall}) ` +
      verdict(recall >= targets.recall),
  );
}

/** Requests each path once a round. The caches of PostgreSQL have to be filled before. */
async function timesOf(
  client: pg.Client,
  { port, pid }: Running,
  paths: readonly string[],
  rounds: number,
): Promise<Time[]> {
  const times: Time[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const path of paths) {
      const before = await processorTime(client, pid);
      const began = performance.now();
      await (await fetch(`http://127.0.0.1:${port}${path}`)).arrayBuffer();
      const took = performance.now() - began;
      times.push({ path, took, worked: (await processorTime(client, pid)) - before });
    }
  }
  return times;
}

/** @param target the maximum 99th percentile in milliseconds */
function reportTimes(name: string, times: readonly Time[], target: number): void {
  const at = (member: 'took' | 'worked', share: number) =>
    quantile(
      times.map((time) => time[member]),
      share,
    );
  console.log(
    `${name}: p50 ${at('took', 0.5).toFixed(1)} ms, p99 ${at('took', 0.99).toFixed(1)} ms (target ${target}) ` +
      `${verdict(at('took', 0.99) <= target)}; processor time, which depends less on other load of the machine: ` +
      `p50 ${at('worked', 0.5).toFixed(1)} ms, p99 ${at('worked', 0.99).toFixed(1)} ms`,
  );
  const most = times.toSorted((a, b) => b.worked - a.worked).slice(0, 20);
  console.log(`most work: ${[...new Set(most.map(({ path }) => decodeURIComponent(path)))].join(', ')}`);
}

function verdict(isReached: boolean): string {
  return isReached ? 'holds' : 'MISSED';
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function has({ name, brand, category }: Found['items'][number], words: readonly string[]): boolean {
  const text = `${name} ${brand} ${category}`;
  return words.every((word) => text.includes(word));
}
