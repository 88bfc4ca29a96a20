// Orders a second through the gateway, and the time from a cancellation to the release of its stock, with both
// transports. `--prices on` gives each order shipping, taxes and discounts. `--quotes` measures quotes instead, beside
// lists of products.
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { newId } from '@shop/shared/runtime';
import { startBrokerServer } from '@shop/shared/testing';
import { load, type Measured } from './collections/load.ts';
import { applyPrices, type Prices, priceVariables } from './orders/prices.ts';
import { processorTimes } from './orders/processor-time.ts';
import { measureQuotes } from './orders/quotes.ts';
import { type BenchShop, openShop } from './orders/shop.ts';

interface Result extends Measured {
  /** Milliseconds of processor time for an order and all its effects, by part. */
  readonly cpu: ReadonlyMap<string, number>;
  /** Seconds after the last order until every event was handled and every e-mail sent. */
  readonly settling: number;
  /** Milliseconds from sending the cancellation to the COMMIT that releases the stock. */
  readonly back50: number;
  readonly back99: number;
}

interface Options {
  readonly prices: Prices;
  readonly seconds: number;
  readonly rounds: number;
  readonly samples: number;
}

type Transport = 'RabbitMQ' | 'pg-boss';

const inFlight = 8;
// The gateway permits 100 requests a second for each account, far more than its share of the load.
const customers = 24;
const warmUp = 3_000;
const targets = { rate: 200, p99: 100, back: { RabbitMQ: 250, 'pg-boss': 1_000 } } as const;

export default async function orders(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...options],
    options: {
      seconds: { type: 'string', default: '6' },
      rounds: { type: 'string', default: '3' },
      samples: { type: 'string', default: '200' },
      prices: { type: 'string', default: 'off' },
      quotes: { type: 'boolean', default: false },
    },
  });
  const { prices } = values;
  if (prices !== 'off' && prices !== 'on') throw new Error('--prices must be off or on');
  const [seconds, rounds, samples] = [Number(values.seconds), Number(values.rounds), Number(values.samples)];
  const wish: Options = { prices, seconds, rounds, samples };
  console.log(
    `${inFlight} in flight, one product an order, prices ${prices}, ${availableParallelism()} cores shared by everything`,
  );
  if (values.quotes) return measureQuotes({ prices, customers, connections: inFlight, seconds, rounds });
  const results = new Map<Transport, Result>();
  const broker = await startBrokerServer();
  try {
    results.set('RabbitMQ', await measure(`${broker.url}?namespace=bench_${newId().slice(-12)}`, wish));
  } finally {
    await broker.stop();
  }
  results.set('pg-boss', await measure(undefined, wish));
  report(results);
}

async function measure(eventsUrl: string | undefined, { prices, seconds, rounds, samples }: Options): Promise<Result> {
  const shop = await openShop(eventsUrl, customers, priceVariables[prices]);
  try {
    const members = await applyPrices(shop, prices);
    await placeOrders(shop, members, warmUp);
    await shop.quiet();
    const before = processorTimes(process.pid);
    const measured: Measured[] = [];
    for (let round = 0; round < rounds; round += 1) measured.push(await placeOrders(shop, members, seconds * 1000));
    const placed = performance.now();
    await shop.quiet();
    const settling = (performance.now() - placed) / 1000;
    const placedOrders = measured.reduce((sum, { requests }) => sum + requests, 0);
    const used = [...processorTimes(process.pid)].map(([part, time]) => [
      part,
      (time - (before.get(part) ?? 0)) / placedOrders,
    ]);
    const cpu = new Map(used as [string, number][]);
    const times = await cancelOrders(shop, samples);
    console.log(`load of the machine: ${loadavg()[0]?.toFixed(1)}`);
    const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN;
    return { ...median(measured), cpu, settling, back50: at(0.5), back99: at(0.99) };
  } finally {
    await shop.stop();
  }
}

function placeOrders(
  { gateway, products, customers: tokens }: BenchShop,
  members: object,
  milliseconds: number,
): Promise<Measured> {
  let turn = 0;
  const next = (): string => {
    turn += 1;
    const items = [{ productId: products[turn % products.length], quantity: 1 }];
    const body = JSON.stringify({ items, ...members });
    return (
      `POST /v1/orders HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer ${tokens[turn % tokens.length]}\r\n` +
      `Idempotency-Key: ${newId()}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    );
  };
  return load({ port: Number(new URL(gateway).port), next, milliseconds, connections: inFlight, status: 201 });
}

/** Cancels one order after the other. Returns the times until the stock is released, shortest first. */
async function cancelOrders({ catalogue, post, products, customers: tokens }: BenchShop, samples: number) {
  // The catalogue notifies of a release in the same transaction. PostgreSQL delivers the notification at COMMIT.
  let arrived: (() => void) | undefined;
  catalogue.on('notification', () => arrived?.());
  await catalogue.query('LISTEN "outbox:catalogue"');
  const times: number[] = [];
  const cancelled: string[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const token = tokens[sample % tokens.length] ?? '';
    const { id = '' } = await post('/v1/orders', token, {
      items: [{ productId: products[sample % products.length], quantity: 1 }],
    });
    const back = new Promise<number>((resolve) => {
      arrived = () => resolve(performance.now());
    });
    const sent = performance.now();
    await post(`/v1/orders/${id}/cancel`, token);
    times.push((await back) - sent);
    cancelled.push(id);
  }
  const { rows } = await catalogue.query<{ released: number }>(
    `SELECT count(*)::int AS released FROM stock_ledger WHERE kind = 'released' AND order_id = ANY ($1::uuid[])`,
    [cancelled],
  );
  if (rows[0]?.released !== samples) throw new Error(`${rows[0]?.released} of ${samples} orders gave their stock back`);
  return times.sort((a, b) => a - b);
}

function median(list: readonly Measured[]): Measured {
  const sorted = [...list].sort((a, b) => a.rate - b.rate);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error('at least one round is needed');
  return middle;
}

function report(results: ReadonlyMap<Transport, Result>): void {
  console.log('\ntransport   orders/s    p50 ms    p99 ms  CPU ms each  settled s  cancel to stock p50 ms    p99 ms');
  for (const [name, { rate, p50, p99, cpu, settling, back50, back99 }] of results) {
    const cells = [
      rate.toFixed(0).padStart(9),
      p50.toFixed(1).padStart(10),
      p99.toFixed(1).padStart(10),
      sumOf(cpu).toFixed(2).padStart(13),
      settling.toFixed(1).padStart(11),
      back50.toFixed(1).padStart(24),
      back99.toFixed(1).padStart(10),
    ];
    console.log(`${name.padEnd(11)}${cells.join('')}`);
  }
  for (const [name, { cpu }] of results) {
    const parts = [...cpu]
      .sort(([, one], [, other]) => other - one)
      .map(([part, time]) => `${part} ${time.toFixed(2)}`);
    console.log(`${name}, CPU ms each: ${parts.join(', ')}`);
  }
  console.log('');
  const judge = (holds: boolean, line: string): void => console.log(`${holds ? 'holds ' : 'MISSED'} ${line}`);
  for (const [name, { rate, p99, back99 }] of results) {
    judge(rate >= targets.rate, `${name}: ${rate.toFixed(0)} orders a second (target ${targets.rate})`);
    judge(p99 <= targets.p99, `${name}: p99 ${p99.toFixed(0)} ms (target ${targets.p99})`);
    const target = targets.back[name];
    judge(back99 <= target, `${name}: stock back, p99 ${back99.toFixed(0)} ms (target ${target})`);
  }
}

function sumOf(parts: ReadonlyMap<string, number>): number {
  return [...parts.values()].reduce((sum, time) => sum + time, 0);
}
