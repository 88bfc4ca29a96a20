// Takes events from a queue, each once: inbox row and effect in one transaction, the acknowledgement after COMMIT.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction } from 'sequelize';
import { type Database, isDatabaseAway, sql } from '../database/index.ts';
import { inRequest, type Log } from '../runtime/index.ts';
import { beginCounting, failSpan, instruments, SpanKind, startSpan, traceparentOf } from '../telemetry/index.ts';
import type { EventType } from './definitions.ts';
import { type EventHandler, PoisonError, parseEvent, type SelectiveHandler, type ShopEvent } from './event.ts';
import type { Delivery, Transport, Verdict } from './transport.ts';

export type Handlers = { readonly [Type in EventType]?: EventHandler<Type> | SelectiveHandler<Type> };

export interface ConsumeOptions {
  /** The consumer: its queue, and its name in the inbox. */
  readonly name: string;
  readonly handlers: Handlers;
  readonly transport: Transport;
  readonly database: Database;
  readonly log: Log;
  /** Events handled at once; default 10. Each holds a database connection while it runs. */
  readonly prefetch?: number;
}

// While the database is away each delivery is held this long before it is put off: the queue must not spin.
const holdWhileAway = 1_000;

/** Starts the consumer. The returned function stops it and waits for what is in work. */
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
  return transport.subscribe({
    consumer: name,
    prefetch: options.prefetch ?? 10,
    async take(delivery) {
      const began = performance.now();
      const { verdict, outcome, type } = await take(options, delivery);
      const about = { 'messaging.consumer.group.name': name, 'shop.event.type': type };
      instruments.handled.record((performance.now() - began) / 1000, about);
      instruments.deliveries.add(1, { ...about, 'shop.outcome': outcome });
      return verdict;
    },
  });
}

const outcomes = ['taken', 'repeated', 'ignored', 'failed', 'later', 'dead'] as const;

/** A delivery with its verdict, and what is counted of it. */
interface Taken {
  readonly verdict: Verdict;
  readonly outcome: (typeof outcomes)[number];
  /** The event's type, one of ours or `unknown`. */
  readonly type: string;
}

/** Runs as part of the request behind the event. */
async function take(options: ConsumeOptions, delivery: Delivery): Promise<Taken> {
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
  const traceparent = span === undefined ? event.traceparent : traceparentOf(span);
  return inRequest({ id: requestId, traceparent }, async (): Promise<Taken> => {
    try {
      const outcome = await takeOnce(options, { ...event, traceparent }, delivery);
      span?.end();
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
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  if (error instanceof PoisonError) {
    log.error({ err: error, consumer: name }, 'an event became a dead letter');
    return { kind: 'dead', reason };
  }
  if (isDatabaseAway(error)) {
    log.warn({ err: error, consumer: name }, 'an event waits for the database');
    await sleep(holdWhileAway);
    return { kind: 'later', reason };
  }
  log.error({ err: error, consumer: name, attempt }, 'an event could not be handled');
  return { kind: 'failed', reason };
}

async function takeOnce(
  options: ConsumeOptions,
  event: ShopEvent,
  delivery: Delivery,
): Promise<'taken' | 'repeated' | 'ignored'> {
  const { name, database, log } = options;
  const handler = options.handlers[event.type] as EventHandler<EventType> | SelectiveHandler<EventType> | undefined;
  if (handler === undefined) throw new PoisonError(`${name} has no handler for ${event.type}`);
  const { when, take } = typeof handler === 'function' ? { when: undefined, take: handler } : handler;
  if (when?.(event) === false) return 'ignored';
  const first = await database.transaction(async (tx) => {
    if (!(await enterInbox(tx, name, event, delivery.attempt))) return false;
    await take(event, tx);
    return true;
  });
  const outcome = first ? 'taken' : 'repeated';
  const { id, type, subject, requestId } = event;
  log.debug({ consumer: name, event: id, type, subject, requestId, outcome }, 'event');
  return outcome;
}

/** False when the event was taken before. The same event in work elsewhere is waited for: the primary key holds the second back. */
async function enterInbox(tx: Transaction, consumer: string, event: ShopEvent, attempt: number): Promise<boolean> {
  const rows = await sql(
    tx,
    `INSERT INTO inbox (consumer, event_id, type, subject, request_id, attempt) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT DO NOTHING RETURNING event_id`,
    [consumer, event.id, event.type, event.subject, event.requestId, attempt],
  );
  return rows.length === 1;
}
