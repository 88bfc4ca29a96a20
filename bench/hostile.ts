// The cost of the worst requests for a service and for other clients.
//
// First, for each operation with a body or filters: the processor time of every hostile request, as a ratio to that of
// the cheapest accepted request of the same size. Then the 99th percentile of other clients' response times while one
// address sends the worst request a hundred times a second, in comparison with the same without it.
import { parseArgs } from 'node:util';
import { hostileBodies } from '../shared/test/http/hostile-bodies.ts';
import { hostileQueries } from '../shared/test/http/hostile-queries.ts';
import { costOf } from '../test/abuse/attacks/processor-time.ts';
import { steadyP99 } from './gateway/steady.ts';
import { type Asked, type AttackedOperation, attackedOperations } from './hostile/operations.ts';
import { type BenchShop, openShop } from './orders/shop.ts';

interface Measured {
  readonly shape: string;
  readonly asked: Asked;
  readonly status: number;
  /** Milliseconds of the service's processor time. */
  readonly cost: number;
}

interface Worst {
  readonly operation: AttackedOperation;
  readonly refused: Measured;
}

const targets = { ratio: 3, p99: 2 } as const;
const attacksPerSecond = 100;
const othersPerSecond = 50;
const [windows, windowTime] = [3, 8_000];
const warmUp = 4_000;
/**
 * The requests that the other clients send to the attacked service. Each response fits into one packet, as `steadyP99`
 * requires.
 */
const asOthers = {
  accounts: '/.well-known/jwks.json',
  catalogue: '/v1/products?limit=1&fields=id',
} as const;

/** `npm run bench -- hostile [--requests 20] [--rounds 3]` */
export default async function hostile(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...options],
    options: { requests: { type: 'string', default: '20' }, rounds: { type: 'string', default: '3' } },
  });
  const shop = await openShop(undefined, 2, { TRUSTED_PROXIES: '1' });
  try {
    const worst: Worst[] = [];
    console.log('operation          bytes   accepted ms   most expensive refused                ms  ratio');
    for (const operation of await attackedOperations(shop))
      worst.push(await measureOperation(shop, operation, Number(values.requests), Number(values.rounds)));
    console.log(`\np99 of others at ${othersPerSecond}/s, beside ${attacksPerSecond}/s of the worst from one address`);
    for (const each of worst) await measureOthers(shop, each);
  } finally {
    await shop.stop();
  }
}

async function measureOperation(
  shop: BenchShop,
  operation: AttackedOperation,
  requests: number,
  rounds: number,
): Promise<Worst> {
  const { operationId, service, path, bytes, mediaType } = operation;
  const shapes: [string, Asked][] =
    mediaType === ''
      ? Object.entries(hostileQueries(bytes)).map(([shape, query]) => [shape, { path: `${path}?${query}` }])
      : Object.entries(hostileBodies(bytes)).map(([shape, body]) => [shape, { path, body }]);
  const base = shop.processes[service] ?? '';
  const cost = (next: (turn: number) => Asked): Promise<number> =>
    costOf(shop.metrics[service] ?? '', requests, (turn) => send(base, operation, next(turn)));
  const accepted: number[] = [];
  const costs = new Map<string, number>();
  // The requests are measured in turn, so that other load on the machine affects all of them alike. The first round
  // warms up. The smallest of the other measurements counts.
  for (let round = 0; round <= rounds; round += 1) {
    const plain = await cost((turn) => operation.accepted(round * requests + turn));
    if (round > 0) accepted.push(plain);
    for (const [shape, asked] of shapes) {
      const taken = await cost(() => asked);
      if (round > 0) costs.set(shape, Math.min(taken, costs.get(shape) ?? taken));
    }
  }
  const least = Math.min(...accepted);
  const measured: Measured[] = [];
  for (const [shape, asked] of shapes)
    measured.push({ shape, asked, status: await send(base, operation, asked), cost: costs.get(shape) ?? Number.NaN });
  measured.sort((one, other) => other.cost - one.cost);
  const failed = measured.filter(({ status }) => status >= 500).map(({ shape, status }) => `${shape}: ${status}`);
  if (failed.length > 0) throw new Error(`${operationId} failed: ${failed.join(', ')}`);
  const [refused] = measured.filter(({ status }) => status >= 400);
  if (refused === undefined) throw new Error(`${operationId} refuses no hostile request`);
  const ratio = refused.cost / least;
  const cells = [operationId.padEnd(16), String(bytes).padStart(7), least.toFixed(2).padStart(13), '  '];
  const verdict = ratio <= targets.ratio ? '' : '  MISSED';
  console.log(`${cells.join(' ')}${row(refused)} ${ratio.toFixed(2).padStart(6)}${verdict}`);
  const [costly] = measured.filter(({ status }) => status < 400);
  if (costly !== undefined) console.log(`${' '.repeat(43)}accepted: ${costly.shape}, ${costly.cost.toFixed(2)} ms`);
  return { operation, refused };
}

function row({ shape, status, cost }: Measured): string {
  return `${`${status} ${shape}`.slice(0, 36).padEnd(37)} ${cost.toFixed(2).padStart(5)}`;
}

async function send(
  base: string,
  { method, mediaType, token }: AttackedOperation,
  { path, body }: Asked,
  from?: string,
): Promise<number> {
  const answer = await fetch(new URL(path, base), {
    method,
    headers: {
      ...(token === '' ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': mediaType }),
      ...(from === undefined ? {} : { 'X-Forwarded-For': from }),
    },
    ...(body === undefined ? {} : { body }),
  });
  await answer.bytes();
  return answer.status;
}

/** The other clients, each with its own address, and the attacker, with one address, send through the gateway. */
async function measureOthers({ gateway }: BenchShop, { operation, refused }: Worst): Promise<void> {
  if (operation.token !== '' || operation.service === 'orders') return;
  const port = Number(new URL(gateway).port);
  let turn = 0;
  const next = (): string => {
    turn += 1;
    const from = `10.0.${(turn >> 8) % 250}.${turn & 255}`;
    return (
      `GET ${asOthers[operation.service as keyof typeof asOthers]} HTTP/1.1\r\nHost: shop\r\n` +
      `X-Forwarded-For: ${from}\r\n\r\n`
    );
  };
  const others = (milliseconds: number): Promise<number> => steadyP99(port, next, othersPerSecond, milliseconds);
  await others(warmUp);
  const [without, beside]: [number[], number[]] = [[], []];
  for (let window = 0; window < windows; window += 1) {
    without.push(await others(windowTime));
    const sent: Promise<unknown>[] = [];
    const attack = setInterval(() => {
      sent.push(send(gateway, operation, refused.asked, '192.0.2.1').catch(() => {}));
    }, 1_000 / attacksPerSecond);
    // The other clients get no response when the gateway closes their connection.
    beside.push(await others(windowTime).catch(() => Number.POSITIVE_INFINITY));
    clearInterval(attack);
    await Promise.all(sent);
  }
  const [usual, attacked] = [median(without), median(beside)];
  const verdict = attacked < targets.p99 * usual ? '' : '  MISSED';
  const what = `${operation.operationId}, ${refused.shape}`.padEnd(50);
  console.log(
    `${what} ${usual.toFixed(1)} ms → ${attacked.toFixed(1)} ms (${(attacked / usual).toFixed(2)} times)${verdict}`,
  );
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
