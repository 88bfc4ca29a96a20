// Collections with a million products: the service in comparison with a minimal server, with models, and behind the
// gateway.
import { parseArgs } from 'node:util';
import type { SchemaName } from '@shop/shared/database';
import { freePorts } from '@shop/shared/embedded';
import pg from 'pg';
import { cases, deepPage } from './collections/cases.ts';
import { identity } from './collections/identity.ts';
import { load, type Measured } from './collections/load.ts';
import { startSink } from './collections/sink.ts';
import { leaveFirstCore, openStage, type Running, start } from './collections/stage.ts';

interface Result extends Measured {
  /** Microseconds of processor time of the server for a request, which do not depend on other load of the machine. */
  readonly cpu: number;
}

type Variant = 'floor' | 'models' | 'service' | 'observed' | 'small' | 'gateway';

export default async function collections(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...options],
    options: {
      products: { type: 'string', default: '1000000' },
      seconds: { type: 'string', default: '2' },
      rounds: { type: 'string', default: '5' },
      connections: { type: 'string', default: '16' },
      only: { type: 'string', default: '' },
      // Measures only the service, with and without telemetry.
      telemetry: { type: 'boolean', default: false },
    },
  });
  const stage = await openStage();
  const sink = await startSink();
  const running = new Map<Variant, Running>();
  try {
    const products = Number(values.products);
    console.log(`Filling ${products} and 10000 products …`);
    const [large, small] = [await stage.database('large', products), await stage.database('small', 10_000)];
    await startServers(running, { large, small, collector: values.telemetry ? sink.url : undefined });
    const cursors = {
      large: await walkTo(portOf(running, 'service'), Math.min(deepPage, products / 20 - 1)),
      small: await walkTo(portOf(running, 'small'), 400),
      position: await positionOf(large.catalogue, Math.min(deepPage * 20, products - 20)),
    };
    const results = await measureAll(running, cursors, {
      rounds: Number(values.rounds),
      seconds: Number(values.seconds),
      connections: Number(values.connections),
      only: values.only,
      variants: values.telemetry ? ['service', 'observed'] : [...running.keys()],
    });
    for (const { name } of cases) if (results.has(`${name} service`)) print(name, results);
    const memory = running.get('service')?.memory();
    console.log(
      `\nmemory of the service: ${memory?.now} MiB resident, ${memory?.peak} MiB at most (target: under 200)`,
    );
    verdict(results);
  } finally {
    for (const server of running.values()) await server.stop();
    sink.stop();
    await stage.close();
  }
}

interface Databases {
  readonly large: Readonly<Record<SchemaName, string>>;
  readonly small: Readonly<Record<SchemaName, string>>;
  /** The address to which the observed service sends its spans. Without it, the observed service is not started. */
  readonly collector: string | undefined;
}

async function startServers(running: Map<Variant, Running>, { large, small, collector }: Databases): Promise<void> {
  const pinned = leaveFirstCore();
  console.log(pinned ? 'Each server has the first core, everything else the others.' : 'Cores are shared by all.');
  const core = pinned ? '0' : undefined;
  const catalogue = 'services/catalogue/src/main.ts';
  const bare = { DATABASE_URL: large.catalogue };
  const environment = { ...identity, ...bare, EVENTS_URL: large.events };
  running.set('service', await start(catalogue, environment, core));
  if (collector !== undefined) {
    const [port] = await freePorts(1);
    // The settings are those of docker-compose.yml: metrics are read, and spans are sent.
    const sent = { OTEL_EXPORTER_OTLP_ENDPOINT: collector, OTEL_METRICS_EXPORTER: 'none' };
    running.set('observed', await start(catalogue, { ...environment, METRICS_PORT: String(port), ...sent }, core));
  }
  const fewer = { ...identity, DATABASE_URL: small.catalogue, EVENTS_URL: small.events };
  running.set('small', await start(catalogue, fewer, core));
  running.set('floor', await start('bench/collections/floor-server.ts', bare, core));
  running.set('models', await start('bench/collections/models-server.ts', bare, core));
  const behind = { ...identity, CATALOGUE_URL: `http://127.0.0.1:${portOf(running, 'service')}` };
  running.set('gateway', await start('gateway/src/main.ts', behind, pinned ? '1' : undefined));
}

function portOf(running: ReadonlyMap<Variant, Running>, variant: Variant): number {
  return running.get(variant)?.port ?? 0;
}

/** Cursors of a deep page, and the position of that page for the servers without cursors. */
interface DeepPages {
  readonly large: string;
  readonly small: string;
  readonly position: string;
}

interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  /** Only cases whose names contain this text are measured. */
  readonly only: string;
  readonly variants: readonly Variant[];
}

/** @returns the median of the rounds, by case and variant */
async function measureAll(
  running: ReadonlyMap<Variant, Running>,
  cursors: DeepPages,
  { rounds, seconds, connections, only, variants }: Plan,
): Promise<Map<string, Result>> {
  const measured = new Map<string, Result[]>();
  // Each round measures all servers, so that other load affects all of them alike.
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, { name }] of cases.entries()) {
      if (!name.includes(only)) continue;
      for (const variant of variants) {
        const server = running.get(variant);
        if (server === undefined) continue;
        const cursor = variant === 'small' ? cursors.small : cursors.large;
        const next = requestOf(variant, index, cursor, cursors.position);
        const measure = (time: number) => load({ port: server.port, next, milliseconds: time * 1000, connections });
        await measure(0.5);
        const before = server.cpu();
        const result = await measure(seconds);
        const cpu = ((server.cpu() - before) * 1e6) / result.requests;
        const key = `${name} ${variant}`;
        measured.set(key, [...(measured.get(key) ?? []), { ...result, cpu }]);
      }
    }
  }
  return new Map([...measured].map(([key, list]) => [key, median(list)]));
}

/** The cursor of a deep page, found by iterating over the largest pages. */
async function walkTo(port: number, page: number): Promise<string> {
  let cursor = '';
  for (let walked = 0; walked < page / 5; walked += 1) {
    const answer = await fetch(
      `http://127.0.0.1:${port}/v1/products?limit=100&fields=id${cursor && `&cursor=${cursor}`}`,
    );
    const { pagination } = (await answer.json()) as { pagination: { nextCursor?: string } };
    if (pagination.nextCursor === undefined) break;
    cursor = pagination.nextCursor;
  }
  return cursor;
}

/** Returns the position of the same page, for the servers without cursors. */
async function positionOf(url: string, row: number): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    'SELECT created_at::text AS moment, id FROM products ORDER BY created_at DESC, id DESC OFFSET $1 LIMIT 1',
    [row],
  );
  await client.end();
  return encodeURIComponent(`${rows[0].moment}|${rows[0].id}`);
}

function requestOf(variant: Variant, index: number, cursor: string, position: string): () => string {
  const host = 'Host: bench\r\n';
  if (variant === 'floor' || variant === 'models') {
    const text = `GET /${index}${index === 1 ? `?${position}` : ''} HTTP/1.1\r\n${host}\r\n`;
    return () => text;
  }
  const { path, body } = cases[index]?.request(cursor) ?? { path: '/' };
  const payload = body === undefined ? '' : JSON.stringify(body);
  const sent = body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${payload.length}\r\n`;
  const method = body === undefined ? 'GET' : 'POST';
  const start = `${method} ${path} HTTP/1.1\r\n${host}${sent}`;
  if (variant !== 'gateway') return () => `${start}\r\n${payload}`;
  // Each request has another client address, because the gateway limits requests for each address.
  let request = 0;
  return () => {
    request = (request + 1) % 16_000_000;
    return `${start}X-Forwarded-For: 10.${request >> 16}.${(request >> 8) & 255}.${request & 255}\r\n\r\n${payload}`;
  };
}

const nothing: Result = { requests: 0, rate: 0, p50: 0, p99: 0, cpu: 0 };

function median(list: readonly Result[]): Result {
  const sorted = [...list].sort((a, b) => a.rate - b.rate);
  return sorted[Math.floor(sorted.length / 2)] ?? nothing;
}

const titles: readonly [Variant, string][] = [
  ['floor', '(a) floor: node:http, pg'],
  ['models', '(a2) express, sequelize models'],
  ['service', '(b) the service'],
  ['observed', '(b) with telemetry, 5 % sampled'],
  ['small', '(b) at 10,000 products'],
  ['gateway', '(c) through the gateway'],
];

function print(name: string, results: ReadonlyMap<string, Result>): void {
  const floor = results.get(`${name} floor`)?.rate ?? Number.NaN;
  console.log(
    `\n${name.padEnd(34)}${'req/s'.padStart(9)}${'p50 ms'.padStart(9)}` +
      `${'p99 ms'.padStart(9)}${'CPU µs'.padStart(9)}${'of floor'.padStart(10)}`,
  );
  for (const [variant, title] of titles) {
    const result = results.get(`${name} ${variant}`);
    if (result === undefined) continue;
    const { rate, p50, p99, cpu } = result;
    const cells = [
      rate.toFixed(0).padStart(9),
      p50.toFixed(2).padStart(9),
      p99.toFixed(2).padStart(9),
      cpu.toFixed(0).padStart(9),
    ];
    const ofFloor = Number.isNaN(floor) ? '' : (rate / floor).toFixed(2).padStart(10);
    console.log(`  ${title.padEnd(32)}${cells.join('')}${ofFloor}`);
  }
}

function verdict(results: ReadonlyMap<string, Result>): void {
  const rate = (name: string, variant: Variant) => results.get(`${name} ${variant}`)?.rate ?? Number.NaN;
  const [first, deep] = cases.map(({ name }) => name);
  const lines = cases.flatMap(({ name }): [string, number, number][] => [
    [`${name}: with telemetry to without`, rate(name, 'observed') / rate(name, 'service'), 0.85],
    [`${name}: service to floor`, rate(name, 'service') / rate(name, 'floor'), 0.6],
    [`${name}: service to models`, rate(name, 'service') / rate(name, 'models'), 1.8],
    [`${name}: a million to ten thousand`, rate(name, 'service') / rate(name, 'small'), 0.9],
    [`${name}: gateway to service`, rate(name, 'gateway') / rate(name, 'service'), 0.5],
  ]);
  lines.push(['deep page to first page', rate(deep ?? '', 'service') / rate(first ?? '', 'service'), 0.95]);
  console.log('');
  for (const [what, ratio, target] of lines) {
    if (!Number.isNaN(ratio))
      console.log(`${ratio >= target ? 'holds ' : 'MISSED'} ${what}: ${ratio.toFixed(2)} (target ${target})`);
  }
}
