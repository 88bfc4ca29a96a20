// The state and the faults of each part of the shop on the board, and the runbook of each fault.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { toHeadlines } from '../src/board/faults.ts';
import { type BoardPart, partsOf, type UpstreamView } from '../src/board/part-states.ts';
import type { ProcessFigures, QueueFigures, ShopFigures } from '../src/board/shop-figures.ts';

const well: UpstreamView = { ready: true, refusing: false, needed: true };
const away: UpstreamView = { ...well, ready: false };

const figures: ProcessFigures = {
  ...{ process: 'orders', known: 1, replicas: 1, ready: 1, failing: [] },
  ...{ requests: 1_000, failed: 0, half: 5, most: 20, lag: 0.5, published: 3, calls: {} },
};
const queue: QueueFigures = { consumer: 'orders.effects', waiting: 0, delayed: 0, dead: 0, taken: 1 };

function shop(
  processes: readonly Partial<ProcessFigures>[],
  queues: readonly Partial<QueueFigures>[] = [{}],
): ShopFigures {
  return {
    ...{ within: 60, webhooks: undefined, orders: {}, stock: {} },
    processes: processes.map((one) => ({ ...figures, ...one })),
    queues: queues.map((one) => ({ ...queue, ...one })),
  };
}

let faults: BoardPart['faults'] = [];

/** The state of a part and its faults. */
function partOf(
  kind: BoardPart['kind'],
  name: string,
  seen: UpstreamView | undefined,
  said: ShopFigures | undefined,
): unknown[] {
  const parts = partsOf(new Map(seen === undefined ? [] : [['orders', seen]]), said);
  const part = parts.find((one) => one.kind === kind && one.name === name);
  faults = part?.faults ?? [];
  return part === undefined ? [] : [part.state, ...faults.map(({ what }) => what)];
}

afterEach(() => {
  for (const { runbook } of faults)
    expect([runbook, existsSync(fileURLToPath(new URL(`../../docs/runbooks/${runbook}.md`, import.meta.url)))]).toEqual(
      [runbook, true],
    );
});

describe('a service', () => {
  it.each([
    ['is ready', well, {}, ['ready']],
    ['is away', away, { replicas: 0, ready: 0 }, ['not ready', 'nothing answers']],
    ['has no database', away, { ready: 0, failing: ['database'] }, ['not ready', 'check database fails']],
    ['has no broker', away, { ready: 0, failing: ['events'] }, ['not ready', 'check events fails']],
    ['lacks something else', away, { ready: 0, failing: ['keys'] }, ['not ready', 'check keys fails']],
    ['is well and out of reach', away, {}, ['not ready', 'cannot be reached']],
    ['is refused by its breaker', { ...well, refusing: true }, {}, ['not ready', 'most requests failed']],
    ['tells no figures', well, { replicas: 0, ready: 0 }, ['impaired', 'its metrics are unavailable']],
    ['has lost one of three', well, { known: 3, replicas: 2, ready: 2 }, ['impaired', '1 of 3 not ready']],
    ['fails some requests', well, { failed: 11 }, ['impaired', '11 of 1000 failed']],
    ['fails few requests', well, { failed: 10 }, ['ready']],
    ['is slow', well, { most: 1_000 }, ['impaired', 'slow requests']],
    ['was slow at one of few requests', well, { requests: 99, most: 1_000 }, ['ready']],
    ['waits with its events, which is said elsewhere', well, { lag: 60, failing: ['outboxLag'] }, ['ready']],
  ] as const)('the board shows the state of a service that %s', (_what, seen, said, expected) => {
    expect(partOf('process', 'orders', seen, shop([said]))).toEqual(expected);
  });

  it('a service has the state that the gateway observes until the metrics were polled', () => {
    expect(partOf('process', 'orders', well, undefined)).toEqual(['ready']);
    expect(partOf('process', 'orders', away, undefined)).toEqual(['not ready', 'cannot be reached']);
  });

  it('a service has the state of its own metrics when it is not an upstream of the gateway', () => {
    expect(partOf('process', 'orders', undefined, shop([{}]))).toEqual(['ready']);
    expect(partOf('process', 'orders', undefined, shop([{ ready: 0, failing: ['events'] }]))).toEqual([
      'not ready',
      'check events fails',
    ]);
  });
});

describe('the gateway', () => {
  it('the gateway is always up, because it sends the data', () => {
    expect(partOf('process', 'gateway', undefined, undefined)).toEqual(['ready']);
    expect(partOf('process', 'gateway', undefined, shop([{ process: 'gateway', failed: 500 }]))).toEqual([
      'impaired',
      '500 of 1000 failed',
    ]);
  });
});

describe('a schema', () => {
  it.each([
    ['is ready', {}, ['ready']],
    ['does not answer', { ready: 0, failing: ['database'] }, ['not ready', 'unreachable']],
    ['is known by nobody else', { replicas: 0, ready: 0, lag: undefined }, ['unknown']],
    ['has old events in its outbox', { lag: 31.4 }, ['impaired', 'events wait since 31 s']],
  ] as const)('the board shows the state of a schema that %s', (_what, said, expected) => {
    expect(partOf('schema', 'orders', well, shop([said]))).toEqual(expected);
  });

  it('a schema does not exist for the gateway', () => {
    expect(partOf('schema', 'gateway', well, shop([{ process: 'gateway' }]))).toEqual([]);
  });
});

describe('the gateway', () => {
  const notNeeded = { ...away, needed: false };

  it.each([
    ['is ready when its upstreams are', well, ['ready']],
    [
      'is not ready without a service that clients need, as its /health/ready says',
      away,
      ['not ready', 'not ready without orders'],
    ],
    ['is ready without a service that clients do not need', notNeeded, ['ready']],
    [
      'is ready while the breaker of a service is open, as its /health/ready says',
      { ...well, refusing: true },
      ['ready'],
    ],
  ] as const)('the board shows the state of the gateway: %s', (_what, seen, expected) => {
    expect(partOf('process', 'gateway', seen, shop([{ process: 'gateway' }]))).toEqual(expected);
    expect(partOf('process', 'gateway', seen, undefined)).toEqual(expected);
  });
});

describe('the broker', () => {
  it.each([
    ['is ready when a process reads its queues', [{}], [{}], ['ready']],
    ['is not ready when a process lacks it', [{ failing: ['events'] }], [{}], ['not ready', 'unreachable']],
    ['is unknown when no process answers', [{ replicas: 0 }], [], ['unknown']],
  ] as const)('the board shows the state of the broker: %s', (_what, said, queues, expected) => {
    expect(partOf('broker', 'broker', well, shop(said, queues))).toEqual(expected);
  });
});

describe('a queue', () => {
  it.each([
    ['is ready', { waiting: 1_000 }, ['ready']],
    ['has a dead letter', { dead: 1 }, ['impaired', '1 dead letter']],
    ['has dead letters', { dead: 2 }, ['impaired', '2 dead letters']],
    ['is long', { waiting: 1_001 }, ['impaired', '1001 events wait']],
    ['has an event that is tried again', { delayed: 1 }, ['impaired', '1 event is tried again']],
    ['has many of them', { delayed: 1_001 }, ['impaired', '1001 events wait', '1001 events are tried again']],
  ] as const)('the board shows the state of a queue: %s', (_what, said, expected) => {
    expect(partOf('queue', 'orders.effects', well, shop([{}], [said]))).toEqual(expected);
  });
});

describe('the advice', () => {
  afterEach(() => {
    delete process.env.SHOP_INSTALLATION;
  });

  it.each([
    ['npm', 'npm run shop -- events dead list', 'npm run shop -- logs orders'],
    ['compose', 'docker compose run --rm operator events dead list', 'docker compose logs orders'],
    [
      'kubernetes',
      'kubectl --namespace shop exec operator-0 -- node src/shop.ts events dead list',
      'kubectl --namespace shop logs --prefix --selector app.kubernetes.io/name=orders',
    ],
  ])('the advice has commands in the form of %s', (installation, list, logs) => {
    process.env.SHOP_INSTALLATION = installation;
    partOf('queue', 'orders.effects', undefined, shop([{ process: 'orders' }], [{ dead: 1 }]));
    expect(faults.map(({ todo }) => todo)).toEqual([expect.stringContaining(`${list} shows why`)]);
    partOf('process', 'orders', away, shop([{ process: 'orders', replicas: 0, ready: 0 }], []));
    expect(faults.map(({ todo }) => todo)).toEqual([expect.stringContaining(`(${logs})`)]);
  });
});

describe('the headline', () => {
  const headline = (seen: ReadonlyMap<string, UpstreamView>, said: ShopFigures): string[] =>
    toHeadlines(partsOf(seen, said)).map(({ parts, what }) => `${parts}: ${what}`);

  it('the headline names the database before the service that lacks it, its requests and its queue', () => {
    const lacking = { ready: 0, failing: ['database'], failed: 500 };
    const seen = new Map([['orders', { ...away, refusing: true }]]);
    expect(headline(seen, shop([lacking], [{ waiting: 2_000 }]))).toEqual([
      'database of orders: unreachable',
      'orders: check database fails',
      'orders: most requests failed',
      'gateway: not ready without orders',
      'orders: 500 of 1000 failed',
      'orders.effects: 2000 events wait',
    ]);
  });

  it('the headline names the broker before the processes that lack it and the events that wait', () => {
    const lacking = [{ lag: 60 }, { process: 'notifications', ready: 0, failing: ['events'], lag: 0 }];
    expect(headline(new Map([['orders', well]]), shop(lacking, [{ dead: 1 }]))).toEqual([
      'broker: unreachable',
      'notifications: check events fails',
      'database of orders: events wait since 60 s',
      'orders.effects: 1 dead letter',
    ]);
  });

  it('the headline names a cause once for all parts that have it', () => {
    const lacking = { ready: 0, failing: ['database', 'events'] };
    const seen = new Map([
      ['orders', away],
      ['catalogue', away],
    ]);
    expect(headline(seen, shop([lacking, { ...lacking, process: 'catalogue' }]))).toEqual([
      'database of orders, catalogue: unreachable',
      'broker: unreachable',
      'orders, catalogue: check database fails',
      'orders, catalogue: check events fails',
      'gateway: not ready without orders, catalogue',
    ]);
  });
});
