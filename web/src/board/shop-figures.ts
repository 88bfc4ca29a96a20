// The metrics of all processes, polled while a board is open: the present state, and the changes within the last
// minute.
import { lookup } from 'node:dns/promises';
import { readSamples, type Sample } from './prometheus-samples.ts';

/** Process → address of its metrics. A host name with several addresses means several replicas. */
export type MetricsAddresses = readonly (readonly [process: string, address: string])[];

export interface ProcessFigures {
  readonly process: string;
  /** The number of expected replicas, of responding replicas, and of ready replicas. */
  readonly known: number;
  readonly replicas: number;
  readonly ready: number;
  /** The checks that fail at any replica. */
  readonly failing: readonly string[];
  /** Within the last minute. `failed` counts the responses from 500. */
  readonly requests: number;
  readonly failed: number;
  /** Milliseconds within which 50 and 99 percent of the requests were completed, rounded up to the next bound. */
  readonly half: number;
  readonly most: number;
  /** Seconds since its oldest unpublished event; undefined for a process without an outbox. */
  readonly lag: number | undefined;
  /** Its published events, and its requests to each service, within the last minute. */
  readonly published: number;
  readonly calls: Readonly<Record<string, number>>;
}

export interface QueueFigures {
  readonly consumer: string;
  readonly waiting: number;
  readonly delayed: number;
  readonly dead: number;
  /** The events that the consumer handled within the last minute. */
  readonly taken: number;
}

export interface WebhookFigures {
  /** The webhooks by state. */
  readonly states: Readonly<Record<string, number>>;
  /** Seconds since the first failure of the endpoint, or of the subject, that has failed the longest; 0 without one. */
  readonly failingAge: number;
  /** The subjects whose changes wait, because one of them failed. */
  readonly parked: number;
}

export interface ShopFigures {
  /** Seconds that the changes cover: a minute, or less when the polling began later. */
  readonly within: number;
  readonly processes: readonly ProcessFigures[];
  readonly queues: readonly QueueFigures[];
  /** Undefined when there are no webhooks. */
  readonly webhooks: WebhookFigures | undefined;
  /** The orders by status: those that are open, and all that were ever finished. */
  readonly orders: Readonly<Record<string, number>>;
  /** Units of stock by kind of movement, within the last minute. */
  readonly stock: Readonly<Record<string, number>>;
}

/** The result of one poll of all replicas. */
interface Poll {
  readonly at: number;
  /** Process → the number of expected replicas. */
  readonly known: Readonly<Record<string, number>>;
  /** Process and address → samples by name and labels. */
  readonly replicas: ReadonlyMap<string, ReadonlyMap<string, Sample>>;
}

const window = 60_000;
const answerWithin = 1_500;

export class ShopMetrics {
  readonly #addresses: MetricsAddresses;
  #polls: Poll[] = [];

  constructor(addresses: MetricsAddresses) {
    this.#addresses = addresses;
  }

  /** Polls every process once. A process that does not respond in time counts as missing. */
  async poll(): Promise<void> {
    const answers = await Promise.all(this.#addresses.map(([process, address]) => ask(process, address)));
    const at = performance.now();
    // The last poll before the minute began is retained, as the base of the changes.
    const first = this.#polls.findLastIndex((poll) => at - poll.at >= window);
    const known: Record<string, number> = {};
    for (const answer of answers) known[answer.process] = (known[answer.process] ?? 0) + answer.known;
    const replicas = new Map(answers.flatMap((answer) => answer.replicas));
    this.#polls = [...this.#polls.slice(Math.max(0, first)), { at, known, replicas }];
  }

  figures(): ShopFigures | undefined {
    const [now, before] = [this.#polls.at(-1), this.#polls[0]];
    if (now === undefined || before === undefined) return undefined;
    const processes = [...new Set(this.#addresses.map(([process]) => process))];
    const all = samplesOf(now);
    const changed = changesSince(before, now);
    return {
      within: Math.round((now.at - before.at) / 1_000),
      processes: processes.map((process) => processFigures(process, now, changed)),
      queues: queueFigures(all, changed),
      webhooks: webhookFigures(all),
      orders: {
        ...mostBy(all, 'shop_orders_open', 'shop_status'),
        ...mostBy(all, 'shop_orders_finished', 'shop_status'),
      },
      stock: sumBy(changed, 'shop_stock_movements_total', 'shop_kind'),
    };
  }
}

type Replica = readonly [key: string, samples: ReadonlyMap<string, Sample>];

interface Answer {
  readonly process: string;
  readonly known: number;
  readonly replicas: readonly Replica[];
}

/** Queries all replicas of a process. A host name without an address means one expected replica. */
async function ask(process: string, address: string): Promise<Answer> {
  const url = new URL(address);
  const hosts = await lookup(url.hostname, { all: true }).catch(() => []);
  const families = await Promise.all(
    [4, 6].map(async (family): Promise<Answer> => {
      const own = hosts.filter((host) => host.family === family);
      const replicas = await Promise.all(own.map((host) => askOne(process, url, host.address)));
      return { process, known: Math.max(1, own.length), replicas: replicas.flat() };
    }),
  );
  // A replica may have an address of both families and listen on one of them only.
  return families.reduce((a, b) => (b.replicas.length > a.replicas.length ? b : a));
}

async function askOne(process: string, url: URL, host: string): Promise<Replica[]> {
  const at = new URL(url);
  at.hostname = host.includes(':') ? `[${host}]` : host;
  try {
    const answer = await fetch(at, { signal: AbortSignal.timeout(answerWithin) });
    if (!answer.ok) return [];
    const samples = readSamples(await answer.text());
    return [[`${process} ${at.host}`, new Map(samples.map((sample) => [keyOf(sample), sample]))]];
  } catch {
    return []; // nothing listens, the replica is too slow, or the response is incomplete
  }
}

function keyOf({ name, labels }: Sample): string {
  return `${name} ${JSON.stringify(labels)}`;
}

function samplesOf({ replicas }: Poll, process?: string): Sample[] {
  return [...replicas].flatMap(([key, samples]) =>
    process === undefined || key.startsWith(`${process} `) ? [...samples.values()] : [],
  );
}

interface Change extends Sample {
  readonly process: string;
}

/** Returns the increase of each sample. For a replica that is new or was restarted, the increase is the whole value. */
function changesSince(before: Poll, now: Poll): Change[] {
  return [...now.replicas].flatMap(([key, samples]) => {
    const earlier = before.replicas.get(key);
    const [process = ''] = key.split(' ');
    return [...samples].map(([name, sample]): Change => {
      const was = earlier?.get(name)?.value ?? 0;
      return { ...sample, process, value: sample.value < was ? sample.value : sample.value - was };
    });
  });
}

function processFigures(process: string, now: Poll, changed: readonly Change[]): ProcessFigures {
  const own = changed.filter((change) => change.process === process);
  const counts = own.filter(({ name }) => name === 'http_server_request_duration_count');
  const failed = counts.filter(({ labels }) => Number(labels.http_response_status_code ?? 0) >= 500);
  const buckets = sumBy(own, 'http_server_request_duration_bucket', 'le');
  const lags = samplesOf(now, process).filter(({ name }) => name === 'shop_outbox_lag');
  const replicas = [...now.replicas].filter(([key]) => key.startsWith(`${process} `));
  const failing = replicas.map(([, samples]) => failingChecks([...samples.values()]));
  return {
    process,
    known: now.known[process] ?? 0,
    replicas: replicas.length,
    ready: failing.filter((checks) => !checks.includes('ready')).length,
    failing: [...new Set(failing.flat())].filter((check) => check !== 'ready').sort(),
    requests: sum(counts),
    failed: sum(failed),
    half: quantile(buckets, 0.5),
    most: quantile(buckets, 0.99),
    lag: lags.length === 0 ? undefined : Math.max(...lags.map(({ value }) => value)),
    published: sum(
      own.filter(({ name, labels }) => name === 'shop_relay_events_total' && labels.shop_outcome === 'confirmed'),
    ),
    calls: sumBy(own, 'http_client_request_duration_count', 'server_address'),
  };
}

function failingChecks(samples: readonly Sample[]): string[] {
  return samples.flatMap(({ name, labels, value }) =>
    name === 'shop_health' && value === 0 && labels.shop_check !== undefined ? [labels.shop_check] : [],
  );
}

/** Milliseconds. */
function quantile(buckets: Readonly<Record<string, number>>, share: number): number {
  const bounds = Object.entries(buckets)
    .map(([bound, count]) => [bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound), count] as const)
    .sort(([a], [b]) => a - b);
  const all = bounds.at(-1)?.[1] ?? 0;
  if (all === 0) return 0;
  const [bound = 0] = bounds.find(([, count]) => count >= all * share) ?? [];
  // A longer request is counted with the last bound.
  return (Number.isFinite(bound) ? bound : (bounds.at(-2)?.[0] ?? 0)) * 1_000;
}

/**
 * Returns the figures of the queues. Every replica reports the same depth of a queue, so the maximum applies. Counts of
 * single replicas are added up.
 */
function queueFigures(all: readonly Sample[], changed: readonly Sample[]): QueueFigures[] {
  const depths = all.filter(({ name }) => name === 'shop_queue_depth');
  const taken = sumBy(changed, 'shop_deliveries_total', 'messaging_consumer_group_name');
  const consumers = [...new Set(depths.map(({ labels }) => labels.messaging_consumer_group_name ?? ''))].sort();
  return consumers.map((consumer) => {
    const own = depths.filter(({ labels }) => labels.messaging_consumer_group_name === consumer);
    const { waiting = 0, delayed = 0, dead = 0 } = mostBy(own, 'shop_queue_depth', 'shop_state');
    return { consumer, waiting, delayed, dead, taken: taken[consumer] ?? 0 };
  });
}

/** Every replica reports all webhooks, so the maximum applies. */
function webhookFigures(all: readonly Sample[]): WebhookFigures | undefined {
  const states = mostBy(all, 'shop_webhooks', 'shop_webhook_state');
  if (Object.values(states).every((count) => count === 0)) return undefined;
  const most = (metric: string): number =>
    Math.max(0, ...all.filter(({ name }) => name === metric).map(({ value }) => value));
  return { states, failingAge: most('shop_webhooks_failing_age'), parked: most('shop_webhooks_parked') };
}

function sum(samples: readonly Sample[]): number {
  return samples.reduce((total, { value }) => total + value, 0);
}

function sumBy(samples: readonly Sample[], name: string, label: string): Record<string, number> {
  return foldBy(samples, name, label, (a, b) => a + b);
}

function mostBy(samples: readonly Sample[], name: string, label: string): Record<string, number> {
  return foldBy(samples, name, label, Math.max);
}

function foldBy(
  samples: readonly Sample[],
  name: string,
  label: string,
  fold: (a: number, b: number) => number,
): Record<string, number> {
  const folded: Record<string, number> = {};
  for (const sample of samples) {
    const key = sample.labels[label];
    if (sample.name === name && key !== undefined) folded[key] = fold(folded[key] ?? 0, sample.value);
  }
  return folded;
}
