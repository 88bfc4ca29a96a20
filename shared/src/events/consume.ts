// Handles the events of a queue, each once: the inbox row and the effect commit in one transaction, and then the
// delivery is acknowledged.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, isDatabaseUnavailable, sql, type Transaction } from '../database/index.ts';
import { inRequest, type Log, outsideRequests, toReason } from '../runtime/index.ts';
import { beginCounting, failSpan, instruments, SpanKind, startSpan, toTraceparent } from '../telemetry/index.ts';
import { batch } from './batch.ts';
import { type Handler, PoisonError, parseEvent, type ShopEvent } from './event.ts';
import type { EventType } from './generated.ts';
import type { Delivery, Transport, Verdict } from './transport.ts';

export type Handlers = { readonly [Type in EventType]?: Handler<Type> };

export interface ConsumeOptions {
  /** The consumer: its queue, and its name in the inbox. */
  readonly name: string;
  readonly handlers: Handlers;
  readonly transport: Transport;
  readonly database: Database;
  readonly log: Log;
}

// The maximum number of concurrent deliveries. Each one that is not handled in a batch waits for its own database
// connection.
const prefetch = 20;
// Milliseconds before a delivery is rescheduled while the database is unavailable, so that it is not redelivered in a
// busy loop.
const holdWhileAway = 1_000;

/** Starts the consumer. The returned function stops it and waits for deliveries in progress. */
export function consume(options: ConsumeOptions): Promise<() => Promise<void>> {
  const { name, transport } = options;
  const none = Object.keys(options.handlers).flatMap((type) =>
    outcomes.map((outcome) => ({
      'messaging.consumer.group.name': name,
      'shop.event.type': type,
      'shop.outcome': outcome,
    })),
  );
  beginCounting(instruments.deliveries, none);
  beginCounting(instruments.queueLosses, [{ 'messaging.consumer.group.name': name }]);
  const handlers = toDeliveryHandlers(options);
  return transport.subscribe({
    consumer: name,
    prefetch,
    async handle(delivery) {
      const began = performance.now();
      const { verdict, outcome, type } = await handle(options, handlers, delivery);
      const about = { 'messaging.consumer.group.name': name, 'shop.event.type': type };
      instruments.handled.record((performance.now() - began) / 1000, about);
      instruments.deliveries.add(1, { ...about, 'shop.outcome': outcome });
      return verdict;
    },
  });
}

const outcomes = ['taken', 'repeated', 'ignored', 'failed', 'later', 'dead'] as const;

/** The verdict on a delivery, and the attributes of its metrics. */
interface Handled {
  readonly verdict: Verdict;
  readonly outcome: (typeof outcomes)[number];
  /** The event's type, or `unknown` for a type that the shop does not define. */
  readonly type: string;
}

/** Runs in the scope of the request that caused the event. */
async function handle(options: ConsumeOptions, handlers: DeliveryHandlers, delivery: Delivery): Promise<Handled> {
  let event: ShopEvent;
  try {
    event = parseEvent(delivery.content);
  } catch (error) {
    const verdict = await judge(options, error, delivery);
    return { verdict, outcome: verdict.kind, type: 'unknown' };
  }
  const { type, requestId } = event;
  const about = { 'messaging.operation.type': 'process', 'messaging.message.id': event.id, 'shop.event.type': type };
  const span = startSpan(`process ${type}`, SpanKind.CONSUMER, about, event.traceparent);
  const traceparent = span === undefined ? event.traceparent : toTraceparent(span);
  return inRequest({ id: requestId, traceparent }, async (): Promise<Handled> => {
    try {
      const handler = handlers.get(type);
      if (handler === undefined) throw new PoisonError(`${options.name} has no handler for ${type}`);
      const outcome = await handler({ event: { ...event, traceparent }, attempt: delivery.attempt });
      span?.end();
      const { id, subject } = event;
      options.log.debug({ consumer: options.name, event: id, type, subject, requestId, outcome }, 'event');
      return { verdict: { kind: 'done' }, outcome, type };
    } catch (error) {
      if (span !== undefined) failSpan(span, error);
      const verdict = await judge(options, error, delivery);
      return { verdict, outcome: verdict.kind, type };
    }
  });
}

async function judge(
  { name, log }: ConsumeOptions,
  error: unknown,
  { attempt }: Delivery,
): Promise<Exclude<Verdict, { kind: 'done' }>> {
  const reason = error instanceof Error ? `${error.name}: ${toReason(error)}` : toReason(error);
  if (error instanceof PoisonError) {
    log.error({ err: error, consumer: name }, 'an event became a dead letter');
    return { kind: 'dead', reason };
  }
  if (isDatabaseUnavailable(error)) {
    log.warn({ err: error, consumer: name }, 'an event waits for the database');
    await sleep(holdWhileAway);
    return { kind: 'later', reason };
  }
  log.error({ err: error, consumer: name, attempt }, 'an event could not be handled');
  return { kind: 'failed', reason };
}

interface Arrival {
  readonly event: ShopEvent;
  readonly attempt: number;
}

/** Handles one event. Other events of its type may be in the same batch. */
type DeliveryHandler = (arrival: Arrival) => Promise<'taken' | 'repeated' | 'ignored'>;
type DeliveryHandlers = ReadonlyMap<string, DeliveryHandler>;

function toDeliveryHandlers(options: ConsumeOptions): DeliveryHandlers {
  const handlers = Object.entries(options.handlers) as [EventType, Handler<EventType>][];
  return new Map(handlers.map(([type, handler]) => [type, toDeliveryHandler(options, handler)]));
}

function toDeliveryHandler(options: ConsumeOptions, handler: Handler<EventType>): DeliveryHandler {
  if ('handleAll' in handler) {
    return batch((arrivals) => asPartOf(arrivals, () => handleOnce(options, arrivals, handler.handleAll)));
  }
  const { when, handle } = typeof handler === 'function' ? { when: undefined, handle: handler } : handler;
  return async (arrival) => {
    if (when?.(arrival.event) === false) return 'ignored';
    const [outcome = 'repeated'] = await handleOnce(options, [arrival], (_, tx) => handle(arrival.event, tx));
    return outcome;
  };
}

/** Runs work in the scope of its request. Work for several requests runs in the scope of none of them. */
function asPartOf<T>(arrivals: readonly Arrival[], work: () => T): T {
  const [first, ...others] = arrivals;
  if (first === undefined || others.length > 0) return outsideRequests(work);
  return inRequest({ id: first.event.requestId, traceparent: first.event.traceparent }, work);
}

/**
 * Adds the rows to the inbox and handles the events that were not in it, in one transaction. A repeated delivery is
 * acknowledged only when its inbox row is confirmed.
 */
function handleOnce(
  { name, database }: ConsumeOptions,
  arrivals: readonly Arrival[],
  handle: (events: readonly ShopEvent[], tx: Transaction) => Promise<void>,
): Promise<('taken' | 'repeated')[]> {
  return database.transaction(async (tx) => {
    const entered = await enterInbox(tx, name, arrivals);
    const fresh = arrivals.filter((arrival) => entered.has(arrival));
    if (fresh.length > 0) {
      await handle(
        fresh.map(({ event }) => event),
        tx,
      );
    }
    const repeated = arrivals.filter((arrival) => !entered.has(arrival));
    if (repeated.length > 0) await confirmInbox(tx, name, repeated);
    return arrivals.map((arrival) => (entered.has(arrival) ? 'taken' : 'repeated'));
  });
}

/**
 * Returns the deliveries of events that were not handled before. The primary key makes a transaction wait for another
 * one that handles the same event. Rows are inserted in the order of their ids, so that two transactions with common
 * events do not deadlock.
 */
async function enterInbox(tx: Transaction, consumer: string, arrivals: readonly Arrival[]): Promise<Set<Arrival>> {
  const byId = new Map(arrivals.map((arrival) => [arrival.event.id, arrival]));
  const rows = [...byId.values()].sort((a, b) => (a.event.id < b.event.id ? -1 : 1));
  const entered = await sql<{ id: string }>(
    tx,
    `INSERT INTO inbox (consumer, event_id, type, subject, request_id, attempt)
     SELECT $1, * FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::int[])
     ON CONFLICT DO NOTHING RETURNING event_id AS id`,
    [
      consumer,
      rows.map(({ event }) => event.id),
      rows.map(({ event }) => event.type),
      rows.map(({ event }) => event.subject),
      rows.map(({ event }) => event.requestId),
      rows.map(({ attempt }) => attempt),
    ],
  );
  return new Set(entered.flatMap(({ id }) => byId.get(id) ?? []));
}

/**
 * Locks the rows of events that were handled before. A primary that was cut off from its standbys may show a commit
 * that no standby has, and a failover would lose it. The lock is written to the log of the server, so that this
 * transaction commits only when the rows are safe.
 */
async function confirmInbox(tx: Transaction, consumer: string, arrivals: readonly Arrival[]): Promise<void> {
  const ids = arrivals.map(({ event }) => event.id);
  const statement = 'SELECT FROM inbox WHERE consumer = $1 AND event_id = ANY ($2) ORDER BY event_id FOR UPDATE';
  await sql(tx, statement, [consumer, ids]);
}
