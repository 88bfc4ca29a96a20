// The feed of changes through the gateway of a running shop: the time from COMMIT to a reader, a listener and a webhook,
// events a second, and the cost of many idle listeners.
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { newId } from '@shop/shared/runtime';
import { unlimitedConfig } from '../test/gateway-config.ts';
import { Endpoint, endpointNetwork } from './changes/endpoint.ts';
import { Listeners } from './changes/listeners.ts';
import { processorTimes, residentMemory } from './orders/processor-time.ts';
import { type BenchShop, openShop } from './orders/shop.ts';

const target = 250;
/** The processes that a listener costs. */
const parts = ['gateway', 'changes'] as const;

export default async function changes(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...options],
    options: {
      samples: { type: 'string', default: '300' },
      events: { type: 'string', default: '20000' },
      listeners: { type: 'string', default: '5000' },
    },
  });
  const folder = await mkdtemp(join(tmpdir(), 'shop-bench-config-'));
  const GATEWAY_CONFIG_DIR = await unlimitedConfig(folder);
  const shop = await openShop(undefined, 1, { GATEWAY_CONFIG_DIR, WEBHOOKS_ALLOW: endpointNetwork });
  const listeners = new Listeners(Number(new URL(shop.gateway).port));
  const endpoint = new Endpoint();
  try {
    console.log(`pg-boss, ${availableParallelism()} cores shared by everything`);
    report('From COMMIT to the response of a waiting reader', await toReader(shop, Number(values.samples)));
    await listeners.open(1);
    report('From COMMIT to a listener', await toListeners(shop, listeners, Number(values.samples)));
    console.log(`From the outbox to the feed: ${await rateOf(shop, Number(values.events))} events a second`);
    await endpoint.open(shop);
    report('From COMMIT to a webhook', await toEndpoint(shop, endpoint, Number(values.samples)));
    const sent = Number(values.events) / 4;
    console.log(`From the outbox to a webhook: ${await rateOf(shop, sent, endpoint.receive(sent))} events a second`);
    await measureListeners(shop, listeners, Number(values.listeners));
    console.log(`load of the machine: ${loadavg()[0]?.toFixed(1)}`);
  } finally {
    listeners.close();
    endpoint.close();
    await shop.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureListeners(shop: BenchShop, listeners: Listeners, count: number): Promise<void> {
  const before = residentMemory(process.pid);
  await listeners.open(count - listeners.count);
  // Comments go to all of them meanwhile.
  const used = processorTimes(process.pid);
  const idle = 30;
  await sleep(idle * 1_000);
  const after = residentMemory(process.pid);
  const usedAfter = processorTimes(process.pid);
  console.log(`${listeners.count} idle listeners`);
  for (const part of parts) {
    const kilobytes = (((after.get(part) ?? 0) - (before.get(part) ?? 0)) * 1_024) / count;
    const share = ((usedAfter.get(part) ?? 0) - (used.get(part) ?? 0)) / (idle * 10);
    console.log(`  ${part.padEnd(8)} ${kilobytes.toFixed(1)} KB each, ${share.toFixed(0)} % of a core`);
  }
  report('From COMMIT to each of them', await toListeners(shop, listeners, 20, 1_000));
}

/** Commits an event of a new product. @returns its subject */
async function commit({ catalogue }: BenchShop): Promise<string> {
  const subject = newId();
  const data = { productId: subject, name: 'Desk lamp', brand: 'Acme', category: 'lighting', price: 5 };
  await catalogue.query(insertion, [1, subject, JSON.stringify({ ...data, ...others })]);
  return subject;
}

const others = { currency: 'EUR', status: 'available', inStock: true };
const insertion = `
  INSERT INTO outbox (id, type, subject, sequence, request_id, data)
  SELECT uuidv7(), 'product.created.v1', coalesce($2::uuid, uuidv7()), 1, uuidv7(), $3::json FROM generate_series(1, $1)`;

async function toReader(shop: BenchShop, samples: number): Promise<number[]> {
  const page = async (
    query: string,
  ): Promise<{ readonly items: readonly { subject: string }[]; nextCursor: string }> => {
    const answer = await fetch(`${shop.gateway}/v1/changes?types=product&${query}`);
    if (!answer.ok) throw new Error(`the feed answered ${answer.status}`);
    return (await answer.json()) as Awaited<ReturnType<typeof page>>;
  };
  let { nextCursor } = await page('cursor=now');
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const waiting = page(`cursor=${nextCursor}&wait=20`);
    await sleep(100);
    const subject = await commit(shop);
    const committed = performance.now();
    const found = await waiting;
    if (found.items[0]?.subject !== subject) throw new Error('another change came first');
    times.push(performance.now() - committed);
    nextCursor = found.nextCursor;
  }
  return times;
}

async function toListeners(shop: BenchShop, listeners: Listeners, samples: number, pause = 50): Promise<number[]> {
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const arrivals = listeners.next();
    const subject = await commit(shop);
    const committed = performance.now();
    times.push(...(await arrivals(subject)).map((at) => at - committed));
    await sleep(pause);
  }
  return times;
}

async function toEndpoint(shop: BenchShop, endpoint: Endpoint, samples: number): Promise<number[]> {
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const arrival = endpoint.next();
    const subject = await commit(shop);
    const committed = performance.now();
    times.push((await arrival(subject)) - committed);
    await sleep(50);
  }
  return times;
}

/**
 * @param received resolves when all events have arrived; undefined for the feed
 * @returns events a second, from one COMMIT of all of them until the feed has them, or until they are received
 */
async function rateOf(shop: BenchShop, events: number, received?: Promise<void>): Promise<number> {
  const head = async (): Promise<number> => {
    const { rows } = await shop.changes.query<{ head: string | number }>('SELECT head FROM feed');
    return Number(rows[0]?.head);
  };
  const before = await head();
  const data = { productId: newId(), name: 'Desk lamp', brand: 'Acme', category: 'lighting', price: 5, ...others };
  await shop.catalogue.query(insertion, [events, null, JSON.stringify(data)]);
  const began = performance.now();
  if (received === undefined) while ((await head()) < before + events) await sleep(20);
  else await received;
  return Math.round(events / ((performance.now() - began) / 1_000));
}

function report(name: string, times: number[]): void {
  times.sort((a, b) => a - b);
  const at = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
  const holds = at(0.99) <= target ? 'holds ' : 'MISSED';
  console.log(`${holds} ${name}: p50 ${at(0.5).toFixed(0)} ms, p99 ${at(0.99).toFixed(0)} ms (target ${target})`);
}
