// Quotes a second beside lists of products, in turns, so that other load of the machine concerns both.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unlimitedConfig } from '../../test/gateway-config.ts';
import { type Load, load, type Measured } from '../collections/load.ts';
import { applyPrices, type Prices, priceVariables } from './prices.ts';
import { processorTime } from './processor-time.ts';
import { openShop } from './shop.ts';

type Request = 'list' | 'quote';

interface Costs extends Measured {
  /** Milliseconds of processor time for each request, with those of this process. */
  readonly cpu: number;
}

/** How many times as long as a list a quote may take. */
const target = 1.5;

export interface QuotesOptions {
  readonly prices: Prices;
  readonly customers: number;
  readonly connections: number;
  readonly seconds: number;
  readonly rounds: number;
}

export async function measureQuotes(options: QuotesOptions): Promise<void> {
  const { prices, customers, connections, seconds, rounds } = options;
  const folder = await mkdtemp(join(tmpdir(), 'shop-quotes-'));
  const GATEWAY_CONFIG_DIR = await unlimitedConfig(join(folder, 'config'));
  // Lists come from the database, as quotes do.
  const variables = { ...priceVariables[prices], GATEWAY_CONFIG_DIR, PAGE_CACHE_MB: '0' };
  const shop = await openShop(undefined, customers, variables);
  try {
    const members = await applyPrices(shop, prices);
    let turn = 0;
    const headers = () => `Host: shop\r\nAuthorization: Bearer ${shop.customers[turn % customers]}\r\n`;
    const requests: Readonly<Record<Request, Load['next']>> = {
      list() {
        turn += 1;
        return `GET /v1/products?limit=20 HTTP/1.1\r\n${headers()}\r\n`;
      },
      quote() {
        turn += 1;
        const items = [{ productId: shop.products[turn % shop.products.length], quantity: 1 }];
        const body = JSON.stringify({ items, ...members });
        const content = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
        return `POST /v1/quotes HTTP/1.1\r\n${headers()}${content}\r\n${body}`;
      },
    };
    const measure = async (request: Request, milliseconds: number): Promise<Costs> => {
      const before = processorTime(process.pid);
      const port = Number(new URL(shop.gateway).port);
      const measured = await load({ port, next: requests[request], milliseconds, connections });
      return { ...measured, cpu: (processorTime(process.pid) - before) / measured.requests };
    };
    const results: Readonly<Record<Request, Costs[]>> = { list: [], quote: [] };
    for (const request of ['list', 'quote'] as const) await measure(request, 3_000);
    for (let round = 0; round < rounds; round += 1)
      for (const request of ['list', 'quote'] as const) results[request].push(await measure(request, seconds * 1_000));
    report(results);
  } finally {
    await shop.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function report(results: Readonly<Record<Request, readonly Costs[]>>): void {
  console.log('\nrequest     a second    p50 ms    p99 ms  CPU ms each');
  const median = (request: Request, figure: keyof Costs): number =>
    results[request].map((each) => each[figure]).sort((a, b) => a - b)[Math.floor(results[request].length / 2)] ?? 0;
  for (const request of ['list', 'quote'] as const) {
    const [rate, ...times] = (['rate', 'p50', 'p99', 'cpu'] as const).map((figure) => median(request, figure));
    const cells = [(rate ?? 0).toFixed(0), ...times.map((time) => time.toFixed(1))];
    console.log(`${request.padEnd(10)}${cells.map((cell) => cell.padStart(10)).join('')}`);
  }
  const ratio = median('quote', 'p50') / median('list', 'p50');
  const verdict = ratio <= target ? 'holds ' : 'MISSED';
  console.log(`\n${verdict} a quote takes ${ratio.toFixed(2)} times as long as a list (target ${target})`);
}
