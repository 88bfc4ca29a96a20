// The cost of the gateway: the same requests through a bare forwarder, a common proxy, the stock engine, and this
// gateway.
import { type Measured as Answers, load } from './collections/load.ts';
import { openElsewhere, openIdle, openSlow } from './gateway/pressure.ts';
import { type GatewayName, gateways, openStage, type Running, type Stage } from './gateway/stage.ts';
import { steadyP99 } from './gateway/steady.ts';

/**
 * The result of a load, with the processor time per request in microseconds. This time is comparable even while other
 * processes use the machine.
 */
type Measured = Answers & { readonly cost: number };

/** Milliseconds of warm-up until V8 has compiled the code in use, and of the shorter warm-up after an idle time. */
const [warmUp, warmAgain] = [10_000, 6_000];
/**
 * Short and alternating windows, each compared with its neighbours: the speed of a shared machine can halve at any
 * moment.
 */
const [rounds, measured] = [15, 2_000];
const [windows, measuredTail] = [5, 20_000];
/**
 * With slow senders a full garbage collection happens every 30 to 40 s and delays all requests. A shorter window would
 * contain none or too many of them.
 */
const [windowsBeside, measuredBeside] = [3, 60_000];
const connections = 32;
const idleConnections = 5_000;
const slowSenders = 2_000;

/** `npm run bench -- gateway` */
export default async function run(): Promise<void> {
  const stage = await openStage();
  const results = new Map<GatewayName, Measured[]>(gateways.map((name) => [name, []]));
  try {
    const sides: [GatewayName, Running][] = [];
    for (const name of gateways) sides.push([name, await stage.start(name)]);
    for (const [, gateway] of sides) await ask(gateway, warmUp);
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, gateway] of sides) {
        const before = gateway.processorTime();
        const result = await ask(gateway, measured);
        const cost = (gateway.processorTime() - before) / result.requests;
        results.get(name)?.push({ ...result, cost });
      }
    }
    for (const [, gateway] of sides) await gateway.stop();
    report(results);
    await underPressure(stage, median((results.get('ours') ?? []).map(({ rate }) => rate)) / 2);
  } finally {
    await stage.close();
  }
}

/**
 * Measures the latency at half load in comparison with the bare forwarder, the memory with idle connections, and the
 * latency beside slow senders: without them, while they send to another process, and while they send to the gateway or
 * to a minimal server.
 */
async function underPressure(stage: Stage, rate: number): Promise<void> {
  const atHalf: Record<'bare' | 'ours', number[]> = { bare: [], ours: [] };
  const sides = [['bare', await stage.start('bare')] as const, ['ours', await stage.start('ours')] as const];
  for (const [, gateway] of sides) await warm(gateway, rate);
  for (let window = 0; window < windows; window += 1) {
    for (const [name, gateway] of sides)
      atHalf[name].push(await steadyP99(gateway.port, requests(gateway), rate, measuredTail));
  }
  for (const [, gateway] of sides) await gateway.stop();
  const [bare, ours] = [median(atHalf.bare), median(atHalf.ours)];
  console.log(`p99 at ${rate.toFixed(0)} requests/s: bare ${bare.toFixed(2)} ms, ours ${ours.toFixed(2)} ms`);
  console.log(`  each window: bare ${each(atHalf.bare)}, ours ${each(atHalf.ours)}`);

  const gateway = await stage.start('ours');
  const closeIdle = await openIdle(gateway.port, idleConnections);
  console.log(`resident memory with ${idleConnections} idle connections: ${gateway.memory().toFixed(0)} MB`);
  await closeIdle();
  // A quarter of the gateway's maximum: the load and the service share their core with the senders.
  const quarter = rate / 2;
  const patient = await stage.start('patient');
  for (const side of [gateway, patient]) await ask(side, warmUp);
  const elsewhere = await openElsewhere();
  const besides: { who: string; asked: Running; slow?: number; p99: number[] }[] = [
    { who: 'ours beside no slow senders', asked: gateway, p99: [] },
    { who: `ours beside ${slowSenders} of another process`, asked: gateway, slow: elsewhere.port, p99: [] },
    { who: `ours beside ${slowSenders} of its own`, asked: gateway, slow: gateway.port, p99: [] },
    { who: 'a minimal server beside no slow senders', asked: patient, p99: [] },
    { who: `a minimal server beside ${slowSenders} of its own`, asked: patient, slow: patient.port, p99: [] },
  ];
  for (let window = 0; window < windowsBeside; window += 1) {
    for (const { asked, slow, p99 } of besides) {
      await steadyP99(asked.port, requests(asked), quarter, warmAgain);
      const closeSlow = slow === undefined ? undefined : await openSlow(slow, slowSenders);
      p99.push(await steadyP99(asked.port, requests(asked), quarter, measuredBeside));
      await closeSlow?.();
    }
  }
  for (const { who, p99 } of besides) {
    console.log(`p99 at ${quarter.toFixed(0)} requests/s, ${who}: ${median(p99).toFixed(2)} ms (${each(p99)})`);
  }
  await elsewhere.close();
  for (const side of [gateway, patient]) await side.stop();
}

/** Warms up with the load of the measurement, because V8 optimizes for the observed pattern of connections. */
async function warm(gateway: Running, rate: number): Promise<void> {
  await ask(gateway, warmUp);
  await steadyP99(gateway.port, requests(gateway), rate, warmAgain);
}

function ask(gateway: Running, milliseconds: number): Promise<Answers> {
  return load({ port: gateway.port, next: requests(gateway), milliseconds, connections });
}

function requests(gateway: Running): () => string {
  let turn = 0;
  return () => {
    turn += 1;
    const client = `X-Forwarded-For: 10.0.0.${turn % 250}\r\nAuthorization: Bearer ${gateway.token(turn)}`;
    return (
      'GET /v1/orders?limit=10 HTTP/1.1\r\nHost: shop\r\nAccept: application/json\r\nUser-Agent: bench\r\n' +
      `${client}\r\n\r\n`
    );
  };
}

function report(results: ReadonlyMap<GatewayName, readonly Measured[]>): void {
  const bare = results.get('bare') ?? [];
  console.log('gateway    requests/s    of bare     CPU us    of bare     p50 ms     p99 ms');
  for (const [name, all] of results) {
    const cells = [
      median(all.map(({ rate }) => rate)).toFixed(0),
      median(all.map(({ rate }, round) => rate / (bare[round]?.rate ?? Number.NaN))).toFixed(2),
      median(all.map(({ cost }) => cost)).toFixed(0),
      median(all.map(({ cost }, round) => (bare[round]?.cost ?? Number.NaN) / cost)).toFixed(2),
      median(all.map(({ p50 }) => p50)).toFixed(2),
      median(all.map(({ p99 }) => p99)).toFixed(2),
    ];
    console.log(name.padEnd(10), ...cells.map((cell) => cell.padStart(10)));
  }
}

function each(values: readonly number[]): string {
  return values.map((value) => value.toFixed(1)).join(' ');
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
