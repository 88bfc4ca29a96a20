// What the gateway costs: the same requests through a bare forwarder, a common proxy, the stock engine, and ours.
import { type Measured as Answers, load } from './collections/load.ts';
import { type GatewayName, gateways, openStage, type Running } from './gateway/stage.ts';

/** With microseconds of processor time a request, which holds also while something else keeps the machine busy. */
type Measured = Answers & { readonly cost: number };

const rounds = 1;
const warmUp = 3_000;
const measured = 6_000;
const connections = 32;

/** `npm run bench -- gateway` */
export default async function run(): Promise<void> {
  const stage = await openStage();
  const results = new Map<GatewayName, Measured[]>(gateways.map((name) => [name, []]));
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const name of gateways) {
        const gateway = await stage.start(name);
        await ask(gateway, warmUp);
        const before = gateway.processorTime();
        const result = await ask(gateway, measured);
        const cost = (gateway.processorTime() - before) / result.requests;
        results.get(name)?.push({ ...result, cost });
        await gateway.stop();
      }
    }
    report(results);
  } finally {
    await stage.close();
  }
}

function ask(gateway: Running, milliseconds: number): Promise<Answers> {
  let turn = 0;
  const next = () => {
    turn += 1;
    return `GET /v1/orders?limit=10 HTTP/1.1\r\nHost: shop\r\nAccept: application/json\r\nUser-Agent: bench\r\nAuthorization: Bearer ${gateway.token(turn)}\r\n\r\n`;
  };
  return load({ port: gateway.port, next, milliseconds, connections });
}

function report(results: ReadonlyMap<GatewayName, readonly Measured[]>): void {
  const bare = median((results.get('bare') ?? []).map(({ rate }) => rate));
  const bareCost = median((results.get('bare') ?? []).map(({ cost }) => cost));
  console.log('gateway    requests/s    of bare     CPU us    of bare     p50 ms     p99 ms');
  for (const [name, all] of results) {
    const rate = median(all.map((one) => one.rate));
    const cost = median(all.map((one) => one.cost));
    const cells = [
      rate.toFixed(0),
      (rate / bare).toFixed(2),
      cost.toFixed(0),
      (bareCost / cost).toFixed(2),
      median(all.map(({ p50 }) => p50)).toFixed(2),
      median(all.map(({ p99 }) => p99)).toFixed(2),
    ];
    console.log(name.padEnd(10), ...cells.map((cell) => cell.padStart(10)));
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
