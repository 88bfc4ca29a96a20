// All metrics. Names and attributes follow the semantic conventions of OpenTelemetry; the shop's own begin with
// `shop.`. Attributes have values from closed lists, and never ids or raw paths.
import { setTimeout } from 'node:timers/promises';
import { type Counter, createNoopMeter, type Meter, type ObservableResult } from '@opentelemetry/api';

/** Seconds. The boundaries of the conventions with two finer ones, because most responses take a few milliseconds. */
const durations = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Seconds between a COMMIT and its event in the queue, or in the feed. */
const delays = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Seconds for which a page is cached. */
const ages = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 14_400];

function createInstruments(meter: Meter) {
  const seconds = (name: string, description: string, boundaries = durations) =>
    meter.createHistogram(name, { unit: 's', description, advice: { explicitBucketBoundaries: boundaries } });
  const count = (name: string, unit: string, description: string) => meter.createCounter(name, { unit, description });
  return {
    serverRequests: seconds('http.server.request.duration', 'Requests that this process answered.'),
    clientRequests: seconds('http.client.request.duration', 'Requests that this process sent to another one.'),
    statements: seconds('db.client.operation.duration', 'Statements and transactions, as the process sees them.'),
    published: seconds('messaging.client.operation.duration', 'Batches handed to the broker until it confirmed them.'),
    handled: seconds('messaging.process.duration', 'Deliveries in the handler of a consumer.'),
    relayBatches: count('shop.relay.batches', '{batch}', 'Batches of the outbox that the relay published.'),
    relayEvents: count('shop.relay.events', '{event}', 'Events that the relay published, by what became of them.'),
    outboxDelay: seconds('shop.outbox.delay', 'From the change to its event in the queue.', delays),
    feedDelay: seconds('shop.changes.delay', 'From the change to its place in the feed.', delays),
    deliveries: count('shop.deliveries', '{delivery}', 'Deliveries to a consumer, by what it made of them.'),
    queueLosses: count('shop.queue.losses', '{queue}', 'Queues of a consumer that were deleted with their events.'),
    orders: count('shop.orders', '{order}', 'Orders that were placed, refused or changed their status.'),
    underpricedOrders: count(
      'shop.orders.underpriced',
      '{order}',
      'Orders that cost nothing, or with a line far below its usual price.',
    ),
    payments: count('shop.payments', '{payment}', 'Payments by what became of them, and refunds.'),
    stockMovements: count(
      'shop.stock.movements',
      '{unit}',
      'Units of stock that were entered in the stock ledger, by kind.',
    ),
    emails: count('shop.emails', '{email}', 'E-mails, by what became of an attempt to send them.'),
    webhookAttempts: count('shop.webhook.attempts', '{attempt}', 'Requests to the endpoints of webhooks, by outcome.'),
    webhookDelay: seconds('shop.webhook.delay', 'From a change to the response of a webhook that got it.', delays),
    pageRequests: count('shop.pages.requests', '{page}', 'Pages of products for customers, kept in memory or read.'),
    pageChanges: count('shop.pages.changes', '{change}', 'Changes of products that clients can see.'),
    pageAges: seconds(
      'shop.pages.age',
      'Time for which a page was kept, by the reason for which it was dropped.',
      ages,
    ),
    answersChecked: count('shop.contract.checked', '{answer}', 'Answers that were held against the contract.'),
    answersDrifted: count('shop.contract.drift', '{answer}', 'Answers among them that the contract does not allow.'),
  };
}

export type Instruments = ReturnType<typeof createInstruments>;

let meter = createNoopMeter();
let measuring = false;

/** The instruments. They do nothing until `measureWith` is called. */
export const instruments: Instruments = createInstruments(meter);

/**
 * Creates all instruments with this meter. Call it first in a process, because a gauge stays with the meter that
 * created it.
 */
export function measureWith(next: Meter): void {
  meter = next;
  measuring = true;
  Object.assign(instruments, createInstruments(next));
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Returns the attribute `http.request.method`: `_OTHER` for an unknown method. */
export function toMethod({ method = '' }: { readonly method?: string | undefined }): string {
  return methods.has(method) ? method : '_OTHER';
}

/** Exports a counter as 0 before its first event, so that the first event is visible as a change. */
export function beginCounting(counter: Counter, all: readonly Attributes[]): void {
  for (const attributes of all) counter.add(0, attributes);
}

/** Returns whether metrics are exported. */
export function isMeasuring(): boolean {
  return measuring;
}

export interface GaugeOptions {
  readonly unit: string;
  readonly description: string;
}

type Attributes = Readonly<Record<string, string>>;

type Read = (tell: (value: number, attributes?: Attributes) => void) => Promise<void> | void;

/** Observes values that are read at each export. A value that cannot be read is omitted. */
export function observe(name: string, options: GaugeOptions, read: Read): void {
  meter.createObservableGauge(name, options).addCallback(reading(read));
}

/** Observes values that only increase, otherwise as `observe` does. */
export function observeTotal(name: string, options: GaugeOptions, read: Read): void {
  meter.createObservableCounter(name, options).addCallback(reading(read));
}

/** Milliseconds for which an export waits for a value, so that a hanging database does not delay all other metrics. */
const readWithin = 1_000;

function reading(read: Read): (result: ObservableResult) => Promise<void> {
  return async (result) => {
    try {
      const told = read((value, attributes) => result.observe(value, attributes));
      await Promise.race([told, setTimeout(readWithin, undefined, { ref: false })]);
    } catch {
      // The error is ignored, because readiness reports that the database or the broker is unavailable.
    }
  };
}
