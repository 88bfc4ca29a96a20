// Measures the search: how many queries of a file have an expected product among their first five results, and how long
// the first page takes.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { newId } from '@shop/shared/runtime';
import pg from 'pg';
import { identity } from './collections/identity.ts';
import { leaveFirstCore, openStage, type Running, start } from './collections/stage.ts';
import { processorTime } from './search/processor-time.ts';

/**
 * The required share of queries that find the expected product, and the maximum 99th percentile of the first page in
 * milliseconds.
 */
const targets = { recall: 0.9, p99: 25 };
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
  readonly text: string;
  /** Milliseconds until the response was there. */
  readonly took: number;
  /** Milliseconds of processor time that the service and PostgreSQL used. */
  readonly worked: number;
}

async function measure(database: string, { port, pid }: Running, rounds: number): Promise<void> {
  const queries = linesOf('queries.tsv').map(([text = '', expected = '']) => ({ text, words: expected.split(' ') }));
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  const times: Time[] = [];
  const missed: string[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    for (const { text, words } of queries) {
      const before = await processorTime(client, pid);
      const began = performance.now();
      const response = await fetch(`http://127.0.0.1:${port}/v1/products?q=${encodeURIComponent(text)}`);
      const { items } = (await response.json()) as Found;
      const took = performance.now() - began;
      // The first round only fills the caches.
      if (round > 0) times.push({ text, took, worked: (await processorTime(client, pid)) - before });
      else if (!items.slice(0, shown).some((item) => has(item, words))) missed.push(text);
    }
  }
  await client.end();
  const recall = 1 - missed.length / queries.length;
  console.log(`${queries.length} queries; missed: ${missed.join(', ') || 'none'}`);
  console.log(
    `recall among the first ${shown}: ${recall.toFixed(3)} (target ${targets.recall}) ` +
      verdict(recall >= targets.recall),
  );
  const [p50, p99] = [0.5, 0.99].map((share) =>
    quantile(
      times.map(({ took }) => took),
      share,
    ),
  );
  console.log(
    `first page: p50 ${p50?.toFixed(1)} ms, p99 ${p99?.toFixed(1)} ms (target ${targets.p99}) ` +
      verdict((p99 ?? 0) <= targets.p99),
  );
  const work = [0.5, 0.99].map((share) =>
    quantile(
      times.map(({ worked }) => worked),
      share,
    ).toFixed(1),
  );
  console.log(`processor time, which depends less on other load of the machine: p50 ${work[0]} ms, p99 ${work[1]} ms`);
  const slowest = times.sort((a, b) => a.worked - b.worked).slice(-rounds * 5);
  console.log(`most work: ${[...new Set(slowest.map(({ text }) => text))].join(', ')}`);
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
