// Measures whether response times reveal what the responses hide: whether an e-mail address has an account, whether an
// order exists.
//
// Each case sends requests of both kinds in pairs and random order over one connection, without other load. The result
// is the area under the ROC curve: the probability that, of one response of each kind, that of the first kind took
// longer, with ties counted half (Mann and Whitney's U over n * m). At 0.5 the time reveals nothing. An area below 0.5
// reveals as much as one above. With n pairs an area of pure chance has the standard deviation √((2n + 1) / 12n²):
// 0.009 for 2,000.
import { parseArgs } from 'node:util';
import { newId } from '@shop/shared/runtime';
import { openShop } from './orders/shop.ts';
import { type Line, openLine } from './timing/line.ts';

/** Two kinds of requests whose responses must be equal, and the status that both responses have. */
interface Case {
  readonly name: string;
  readonly kinds: readonly [string, string];
  readonly status: number;
  request(kind: 0 | 1, turn: number): string;
}

const target = 0.05;
const warmUp = 50;
// The number of accounts is large enough that none of them reaches a limit of the gateway.
const people = 200;
const bearers = 150;

/** `npm run bench -- timing [--pairs 2000]` */
export default async function timing(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...options], options: { pairs: { type: 'string', default: '2000' } } });
  const pairs = Number(values.pairs);
  const shop = await openShop(undefined, people, { TRUSTED_PROXIES: '1' });
  const line = await openLine(Number(new URL(shop.gateway).port));
  try {
    const order = { items: [{ productId: shop.products[0] ?? '', quantity: 1 }] };
    const orders: string[] = [];
    for (const customer of shop.customers.slice(bearers)) {
      orders.push((await shop.post('/v1/orders', customer, order)).id ?? '');
    }
    await shop.quiet();
    console.log(`${pairs} pairs each; alike is an area of 0.50, target 0.45 to 0.55`);
    console.log(`${'case'.padEnd(34)}${'kinds'.padEnd(18)}${'p50 ms'.padStart(16)}${'area'.padStart(8)}`);
    for (const each of cases(shop.customers.slice(0, bearers), orders)) await measure(line, each, pairs);
  } finally {
    line.close();
    await shop.stop();
  }
}

function cases(tokens: readonly string[], orders: readonly string[]): readonly Case[] {
  const absent = orders.map(() => newId());
  const onOrder =
    (method: string, path: string, body = '') =>
    (kind: 0 | 1, turn: number) => {
      const id = (kind === 0 ? orders : absent)[turn % orders.length];
      const bearer = `Authorization: Bearer ${tokens[turn % tokens.length]}\r\n`;
      return spell(method, `/v1/orders/${id}${path}`, bearer, body);
    };
  const kinds = ['foreign', 'absent'] as const;
  return [
    {
      name: 'POST /v1/tokens',
      kinds: ['known', 'unknown'],
      status: 401,
      request(kind, turn) {
        const email = `${kind === 0 ? 'customer' : 'stranger'}-${turn % people}@shop.example`;
        // Each request has another client address, because log-ins are limited for each address.
        const from = `X-Forwarded-For: 10.${turn % 250}.${kind}.${Math.floor(turn / 250) % 250}\r\n`;
        return spell('POST', '/v1/tokens', from, JSON.stringify({ email, password: 'not the password' }));
      },
    },
    { name: 'GET /v1/orders/{id}', kinds, status: 404, request: onOrder('GET', '') },
    { name: 'GET /v1/orders/{id}/history', kinds, status: 404, request: onOrder('GET', '/history') },
    { name: 'POST /v1/orders/{id}/cancel', kinds, status: 404, request: onOrder('POST', '/cancel', '{}') },
  ];
}

async function measure(line: Line, { name, kinds, status, request }: Case, pairs: number): Promise<void> {
  const times: readonly [number[], number[]] = [[], []];
  for (let turn = 0; turn < warmUp + pairs; turn += 1) {
    const first = Math.random() < 0.5 ? 0 : 1;
    for (const kind of [first, 1 - first] as (0 | 1)[]) {
      const answer = await line.ask(request(kind, turn));
      if (answer.status !== status) throw new Error(`${name}, ${kinds[kind]}: answered ${answer.status}`);
      if (turn >= warmUp) times[kind].push(answer.milliseconds);
    }
  }
  const area = areaUnderCurve(times[0], times[1]);
  const medians = times.map((all) => median(all).toFixed(3)).join(' / ');
  const verdict = Math.abs(area - 0.5) <= target ? 'holds' : 'MISSED';
  console.log(
    `${name.padEnd(34)}${kinds.join(', ').padEnd(18)}${medians.padStart(16)}${area.toFixed(3).padStart(8)}  ${verdict}`,
  );
}

/**
 * Returns the share of all pairs in which the value of `first` is larger than that of `second`. Equal values count
 * half.
 */
function areaUnderCurve(first: readonly number[], second: readonly number[]): number {
  const below = second.toSorted((a, b) => a - b);
  let larger = 0;
  for (const value of first) larger += (countBelow(below, value, false) + countBelow(below, value, true)) / 2;
  return larger / (first.length * second.length);
}

/** Returns how many of the sorted values are smaller than `value`, or with `included` not larger. */
function countBelow(sorted: readonly number[], value: number, included: boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const at = sorted[middle] ?? 0;
    if (at < value || (included && at === value)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function spell(method: string, path: string, headers: string, body: string): string {
  const type = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: shop\r\n${headers}${type}\r\n${body}`;
}
